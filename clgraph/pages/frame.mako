## frame: what every page has around it, and what pages show in one way.
##
## In scope   title
## table      rows of words under a head; style "two" where the first two columns are words
## figure     a caption above a picture
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><style>
:root { --ink: #1c2126; --faint: #d9dee3; --paper: #ffffff; --more: #6b7480; --c0: #2266aa;
  --c1: #c2571a; --c2: #2f8f5b; --c3: #a03a8c; --c4: #8a7a10; --c5: #c0394b; --c6: #2a8a9c;
  --c7: #6a59c8; color-scheme: light dark; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e7eb; --faint: #343b42; --paper: #15191d;
  --more: #98a2ac; --c0: #6cb0f0; --c1: #f0985a; --c2: #6fce98; --c3: #de8ad0; --c4: #d4c24e;
  --c5: #f0808e; --c6: #6cc8da; --c7: #aa9df5; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 1340px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
.wide { overflow-x: auto; } .plots { display: flex; flex-wrap: wrap; gap: 1rem; }
figure { margin: 1.2rem 0 0; max-width: 600px; } figcaption { font-weight: 600; }
svg { max-width: 100%; height: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .6rem; text-align: right; border-bottom: 1px solid var(--faint);
  white-space: nowrap; }
th:first-child, td:first-child, .two th:nth-child(2), .two td:nth-child(2) { text-align: left; }
td.words, .facts th, .facts td { text-align: left; white-space: normal; }
.key { flex-basis: 100%; margin: .6rem 0 0; } .key span { margin-right: 1.2rem; }
.key i { display: inline-block; width: .8em; height: .8em;
  margin-right: .4em; border-radius: 50%; }
.bar { background: var(--faint); width: 12em; height: .9em; }
.bar div { height: 100%; background: var(--c0); }
.missing { color: var(--more); }
</style></head>
<body><h1>${title}</h1>
${next.body()}
</body></html>

<%def name="table(head, rows, style='one')">
<div class="wide"><table class="${style}">
<tr>\
% for name in head:
<th>${name}</th>\
% endfor
</tr>
% for row in rows:
<tr>\
% for cell in row:
<td>${cell}</td>\
% endfor
</tr>
% endfor
</table></div>
</%def>

<%def name="figure(caption, picture)">
<figure><figcaption>${caption}</figcaption>
${picture | n}</figure>
</%def>
