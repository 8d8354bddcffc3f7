## page: runs of the benchmarks, as `bench.report.html` puts them together.
##
## In scope   runs
<%inherit file="/frame.mako"/>
% for run in runs:
<section><h2>${run["heading"]}</h2>
<div class="facts">${self.table(("what", "value"), run["facts"])}</div>
% for algorithm, shown in run["results"].items():
<h2>Results: ${algorithm}</h2>
% if shown:
${self.table(*shown, style="two")}
% endif
% endfor
% if run["peers"]:
<h2>Other libraries in the same run</h2>
${self.table(run["peer_head"], run["peers"], style="two")}
% endif
% if run["missing"]:
<ul>
% for line in run["missing"]:
<li>${line}</li>
% endfor
</ul>
% endif
% for algorithm, (colours, figures) in run["plots"].items():
<h2>Plots: ${algorithm}</h2>
<div class="plots">
% if len(colours) > 1:
<p class="key">\
% for preset, colour in colours.items():
<span><i style="background:var(--${colour})"></i>${preset}</span>\
% endfor
</p>
% endif
${figures_of(figures)}
</div>
% endfor
% if run["histograms"]:
<h2>Histograms</h2>
<div class="plots">${figures_of(run["histograms"])}</div>
% endif
% if run["levels"]:
<h2>Level by level, from the source of median time</h2>
<p class="key"><span><i style="background:var(--c0)"></i>push, near</span>
<span><i style="background:var(--c1)"></i>pull, far</span>
<span>grey line: frontier; blue line: microseconds</span></p>
<div class="plots">${figures_of(run["levels"])}</div>
% endif
</section>
% endfor

<%def name="figures_of(figures)">
% for caption, picture in figures:
${self.figure(caption, picture)}
% endfor
</%def>
