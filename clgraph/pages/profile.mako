## profile: a profile, as `clgraph.profile.page` gives it.
##
## In scope   report, figure (a number or a dash), roofline (SVG or None)
<%inherit file="/frame.mako"/>
<p>Driver ${report.driver}; ${f"{report.time_s * 1e3:.4g}"} ms in ${len(report.kernels)} kernel(s);
quality ${figure(report.quality)} with ${report.weights.origin} weights;
limiter ${report.limiter or "unknown"}.</p>
${bars(report.criteria)}
% if roofline is None:
<p class="missing">No ceilings were measured, so there is no roofline.</p>
% else:
<h2>Roofline</h2>
${roofline | n}
% endif
% for kernel in report.kernels:
<h2>${kernel.name} <small>${kernel.label}</small></h2>
<p>${kernel.launches} launch(es), ${f"{kernel.time_s * 1e3:.4g}"} ms,
quality ${figure(kernel.quality)}, limiter ${kernel.limiter or "unknown"}</p>
${bars(kernel.criteria)}
${hot(kernel.hot_places())}
% endfor

<%def name="bars(criteria)">
<table>
<tr><th>criterion</th><th></th><th>value</th><th>potential</th><th>hint</th></tr>
% for name, criterion in criteria.items():
<tr><th>${name}</th>
% if criterion.value is None:
<td colspan="3" class="words missing">${criterion.reason or "not known"}</td>
% else:
<td><div class="bar"><div style="width:${f"{100 * criterion.value:.1f}"}%"></div></div></td>
<td>${f"{criterion.value:.3f}"}</td><td>${figure(criterion.potential_speedup, ".2f")}</td>
% endif
<td class="words">${criterion.hint}</td></tr>
% endfor
</table>
</%def>

<%def name="hot(places)">
% if places:
<table>
<tr><th>line</th><th>kind</th><th>requests</th><th>a request</th><th>access</th></tr>
% for place in places:
<tr><td>${place["line"]}</td><td>${place["kind"]}</td><td>${f"{place['requests']:,.0f}"}</td>
<td>${f"{place['per_request']:.1f}"}</td><td class="words"><code>${place["access"]}</code></td></tr>
% endfor
</table>
% endif
</%def>
