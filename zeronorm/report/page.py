"""The template of the page: its frame, its style, and the script of the sliders."""

from string import Template

#: The policy forbids every request, whatever a name or a label may hold.
FRAME = Template("""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:">
<meta name="generator" content="zeronorm">
<link rel="icon" href="data:,">
<title>$title</title>
<style>
$style</style>
</head>
<body>
<main>
<h1>$title</h1>
<p class="summary">$summary</p>
$sections
</main>
$script</body>
</html>
""")

STYLE = """\
:root {
  color-scheme: light dark;
  --page: #fcfcfd; --card: #ffffff; --text: #1c2430; --quiet: #5b6675; --line: #dde2e9;
  --c0: #0b62c4; --c1: #c2410c; --c2: #0f7d5c; --c3: #a3347f; --c4: #8a6500; --c5: #4b5bd6;
  --c6: #a32929; --c7: #4f6470; --shade: 11, 98, 196;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12161c; --card: #1a2028; --text: #e4e9f0; --quiet: #9aa7b7; --line: #303a46;
    --c0: #6db3ff; --c1: #ff9a5c; --c2: #4fd0a5; --c3: #f090cf; --c4: #e3bf55; --c5: #a5b0ff;
    --c6: #ff8f8f; --c7: #a9bdc9; --shade: 109, 179, 255;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.4rem 0 .6rem; }
h3 { font-size: 1rem; margin: 0 0 .3rem; }
p { margin: .4rem 0; max-width: 46rem; overflow-wrap: anywhere; }
.summary, .quiet, figcaption { color: var(--quiet); }
.quiet, figcaption { font-size: .875rem; }
.verdict { background: var(--card); border: 1px solid var(--line); border-left: 4px solid var(--c0);
  border-radius: 6px; padding: .6rem 1rem; margin: 1.2rem 0 0; }
.verdict p:first-child { font-weight: 600; }
.scroll { overflow-x: auto; margin: .5rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9375rem; }
th, td { padding: .3rem .7rem; text-align: right; border-bottom: 1px solid var(--line); }
th { font-weight: 600; white-space: nowrap; }
tbody th, thead th:first-child { text-align: left; font-weight: 500; min-width: 7rem;
  max-width: 18rem; overflow-wrap: anywhere; white-space: normal;
  position: sticky; left: 0; background: var(--page); }
.card tbody th, .card thead th:first-child { min-width: 5rem; background: var(--card); }
td { white-space: nowrap; }
td.right { font-weight: 600; }
.plots { display: flex; flex-wrap: wrap; gap: 1rem; }
figure { margin: 0; flex: 1 1 21rem; max-width: 30rem; background: var(--card);
  border: 1px solid var(--line); border-radius: 6px; padding: .7rem; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--quiet); font-size: 11px; }
svg text.label { fill: var(--text); font-size: 12px; }
.grid { stroke: var(--line); stroke-width: 1; }
.line { fill: none; stroke: currentColor; stroke-width: 2; stroke-linejoin: round; }
.dot { fill: currentColor; }
.c0 { color: var(--c0); } .c1 { color: var(--c1); } .c2 { color: var(--c2); }
.c3 { color: var(--c3); } .c4 { color: var(--c4); } .c5 { color: var(--c5); }
.c6 { color: var(--c6); } .c7 { color: var(--c7); }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .1rem .9rem; margin: .4rem 0 0;
  padding: 0; font-size: .8125rem; color: var(--quiet); overflow-wrap: anywhere; }
.key { display: inline-block; width: .8rem; height: .8rem; border-radius: 2px; margin-right: .35rem;
  background: currentColor; vertical-align: -.1rem; }
.bars { max-width: 46rem; font-size: .9375rem; }
.bar { display: grid; grid-template: "name track amount" / 14rem 1fr 4.5rem; gap: .1rem .7rem;
  align-items: center; margin-bottom: .3rem; }
.bar .name { grid-area: name; overflow-wrap: anywhere; }
.bar .track { grid-area: track; background: var(--line); border-radius: 3px; height: .8rem;
  position: relative; }
.bar .fill { background: var(--c0); border-radius: 3px; height: 100%; position: absolute; }
.bar .fill.less { background: var(--c1); }
.bar .amount { grid-area: amount; text-align: right; font-variant-numeric: tabular-nums; }
.narrow .bar { grid-template: "name amount" "track track" / 1fr auto; }
.cards { display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fill, minmax(min(19rem, 100%), 1fr)); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 6px;
  padding: .8rem 1rem; min-width: 0; }
.card table { width: 100%; font-size: .875rem; margin-top: .5rem; }
.card th, .card td { padding: .15rem .3rem; }
.try { display: grid; gap: 1.5rem;
  grid-template-columns: repeat(auto-fit, minmax(min(19rem, 100%), 1fr)); }
.controls label { display: block; margin-bottom: .7rem; }
.controls .name { display: flex; justify-content: space-between; gap: 1rem;
  overflow-wrap: anywhere; }
.controls output { font-variant-numeric: tabular-nums; color: var(--quiet); white-space: nowrap; }
input[type="range"] { width: 100%; accent-color: var(--c0); margin: .2rem 0 0; }
select, button { font: inherit; max-width: 100%; padding: .2rem .5rem; color: var(--text);
  background: var(--card); border: 1px solid var(--line); border-radius: 4px; }
.answer { position: sticky; top: 1rem; align-self: start; }
#prediction { font-size: 1.4rem; font-weight: 600; overflow-wrap: anywhere; }
@media (max-width: 30rem) {
  .bar { grid-template: "name amount" "track track" / 1fr auto; }
  .answer { position: static; order: -1; }
  table { font-size: .875rem; }
}
"""

#: What stands after the exported module, in a block of its own: the module's names stay its own.
SLIDERS = Template("""\
<script type="module">
$code
{
  const start = $start;
  const [low, high] = $range;
  const names = $names;
  const labels = $labels;
  const isPlain = (value) => typeof value === "number" && Number.isFinite(value);
  const shown = (value) => (isPlain(value) ? String(Number(value.toPrecision(4))) : String(value));
  const row = start.slice();
  const controls = [...document.querySelectorAll("[data-column]")];
  const initial = controls.map((control) => control.value);
  const list = document.getElementById("values");
  const bar = (name, value, text, from, to) => {
    const [entry, label, track, fill, amount] = ["bar", "name", "track", "fill", "amount"].map(
      (kind) => {
        const made = document.createElement("div");
        made.className = kind;
        return made;
      },
    );
    label.textContent = name;
    amount.textContent = text;
    const place = (x) => (100 * Math.min(Math.max(x - from, 0), to - from)) / (to - from);
    const [left, right] = [place(Math.min(0, value)), place(Math.max(0, value))];
    fill.classList.toggle("less", value < 0);
    fill.style.left = left + "%";
    fill.style.width = Math.max(right - left, 0.5) + "%";
    track.append(fill);
    entry.append(label, amount, track);
    list.append(entry);
  };
  const show = () => {
    for (const control of controls) {
      const place = Number(control.dataset.column);
      if (control.type === "range") {
        row[place] = Number(control.value);
        document.getElementById("at" + place).textContent = shown(row[place]);
      } else {
        row[place] = JSON.parse(control.value);
      }
    }
    list.replaceChildren();
    const values = [decision(row)].flat();
    document.body.dataset.decision = JSON.stringify(values);
    const [from, to] = [Math.min(low, 0, ...values), Math.max(high, 0, ...values)];
    values.forEach((value, i) => bar(names[i], value, shown(value), from, to));
    const prediction = typeof predict === "function" ? predict(row) : null;
    const place = labels.length ? classes.indexOf(prediction) : -1;
    const text = place < 0 ? [prediction].flat().map(shown).join(", ") : labels[place];
    document.getElementById("prediction").textContent = prediction === null ? "none" : text;
    if (typeof probabilities === "function") {
      probabilities(row).forEach((value, i) => {
        bar("probability of " + labels[i], value, (100 * value).toFixed(1) + " %", 0, 1);
      });
    }
  };
  document.getElementById("reset").addEventListener("click", () => {
    controls.forEach((control, i) => (control.value = initial[i]));
    show();
  });
  for (const control of controls) control.addEventListener("input", show);
  show();
}
</script>
""")
