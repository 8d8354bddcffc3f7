## microbenchmarks: a record of them, as `clgraph.profile.microbenchmarks.page` gives them.
##
## In scope   record, head and rows of the table, sweeps (family, unit, curves)
<%inherit file="/frame.mako"/>
<p>${record["platform"]}, driver ${record["driver"]}, ${record["when"]}.
% if record["idle_watts"] is None:
There is no power meter, so there are times only.
% else:
At rest the device takes ${f"{record['idle_watts']:.1f}"} W.
% endif
</p>
${self.table(head, rows)}
% for family, unit, curves in sweeps:
<h2>${family}</h2><p>One operation is one ${unit}.</p>
<div class="plots">
% for name, curve in curves:
${self.figure(name, curve)}
% endfor
</div>
% endfor
