"use strict";
const MiB = 1 << 20;
const historyMilliseconds = 600000;
const processSeries = [["limit", "limit"], ["used", "in use, by anything"]];
const memorySeries = [["limit", "limit"], ["outstanding", "outstanding"], ["reserved", "reserved, unused"], ["idle", "idle in the pool"]];
const requestSeries = [["waiting", "waiting"]];
const jobColumns = [["size", "from size", 1], ["allocated", "allocated", MiB], ["elsewhere", "elsewhere", MiB], ["perUnit", "bytes a unit", 1],
  ["running", "running", 1], ["waiting", "waiting", 1], ["ended", "ended", 1], ["refused", "refused", 1]];
const sources = { ControlGroup: "Container", JobObject: "Job object" };
const samples = { process: [], allocators: new Map() };
let last = 0;

function make(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function draw(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// The smallest of 1, 2, 5, 10, 20 … that makes at most four steps up to the highest value.
function stepFor(highest) {
  let step = 1;
  for (const factors = [2, 2.5, 2]; highest / step > 4; step *= factors[0], factors.push(factors.shift()));
  return step;
}

function chart(svg, series, list, unit) {
  // As wide as it is shown, so that its texts are as large as those around it.
  const [width, height] = [Math.max(260, svg.clientWidth), svg.viewBox.baseVal.height];
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const [left, right, top, bottom] = [56, width - 10, 10, height - 28];
  const present = series.filter(([name]) => list.some(one => one[name] > 0) || name === "waiting");
  const highest = Math.max(1, ...list.flatMap(one => present.map(([name]) => one[name] / unit)));
  const step = stepFor(highest);
  const most = Math.ceil(highest / step) * step;
  const now = list[list.length - 1].time;
  const span = Math.max(60000, now - list[0].time);
  const x = time => right - (now - time) / span * (right - left);
  const y = value => bottom - value / most * (bottom - top);
  const parts = [];
  for (let value = 0; value <= most; value += step) {
    parts.push(draw("line", { class: "grid", x1: left, x2: right, y1: y(value), y2: y(value) }));
    parts.push(draw("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, value.toLocaleString("en")));
  }
  const minutes = [1, 2, 5, 10].find(one => one * 60000 / span * (right - left) >= 90) ?? 10;
  for (let ago = 0; ago * 60000 <= span; ago += minutes) {
    const label = ago === 0 ? "now" : `${ago} min ago`;
    const anchor = ago === 0 ? "end" : x(now - ago * 60000) < left + 30 ? "start" : "middle";
    parts.push(draw("text", { x: x(now - ago * 60000), y: bottom + 20, "text-anchor": anchor }, label));
  }
  for (const [name] of present) {
    const points = list.map(one => `${x(one.time).toFixed(1)},${y(one[name] / unit).toFixed(2)}`).join(" ");
    parts.push(draw("polyline", { class: name, points }));
  }
  svg.replaceChildren(...parts);
}

function amount(value, unit) {
  const shown = value / unit;
  const text = shown.toLocaleString("en", { maximumFractionDigits: unit === MiB && shown > 0 && shown < 10 ? 1 : 0 });
  return unit === MiB ? [text, make("small", {}, " MiB")] : [text];
}

function entry(kind, text, value, unit) {
  const term = make("dt", {}, ...(kind ? [make("i", { class: kind })] : []), text);
  return make("div", {}, term, make("dd", { "data-value": value }, ...amount(value, unit)));
}

function entries(series, sample, unit) {
  return series.filter(([name]) => name !== "limit" || sample[name] > 0).map(([name, text]) => entry(name, text, sample[name], unit));
}

function keep(list, more) {
  list.push(...more);
  const oldest = list.length === 0 ? 0 : list[list.length - 1].time - historyMilliseconds;
  while (list.length > 0 && list[0].time < oldest) list.shift();
  return list;
}

function section(allocator) {
  const made = make("section", {},
    make("h2", {}), make("dl", {}), make("h3", {}, "Memory, MiB"), draw("svg", { viewBox: "0 0 940 240", role: "img" }),
    make("h3", {}, "Requests that wait"), draw("svg", { viewBox: "0 0 940 110", role: "img" }),
    make("table", { hidden: "" },
      make("thead", {}, make("tr", {}, make("th", { class: "text" }, "job"), ...jobColumns.map(([, text]) => make("th", {}, text)))), make("tbody", {})));
  made.querySelector("h2").textContent = allocator.name === "" ? "The application's allocator" : `Allocator ${allocator.name}`;
  const [memory, requests] = made.querySelectorAll("svg");
  memory.setAttribute("aria-label", `Memory of allocator ${allocator.name}`);
  requests.setAttribute("aria-label", `Requests that wait for allocator ${allocator.name}`);
  document.getElementById("allocators").append(made);
  return { list: [], made, memory, requests };
}

function showAllocations(id, list, report) {
  document.getElementById(`${id}-section`).hidden = list.length === 0;
  document.getElementById(id).replaceChildren(...list.map(one => make("tr", {},
    make("td", {}, ...amount(one.bytes, MiB)), ...(one.count === undefined ? [] : [make("td", {}, one.count.toLocaleString("en"))]),
    make("td", {}, `${Math.round(one.seconds)} s`),
    make("td", { class: "text" }, one.stack?.replace(/^\s+/gm, "") ?? (report.showsStacks ? "No stack was kept: see LeakDetection." : "Stacks are shown if the page needs authorization.")))));
}

function showJobs(table, jobs) {
  table.hidden = jobs.length === 0;
  table.tBodies[0].replaceChildren(...jobs.map(job => make("tr", {}, make("td", { class: "text" }, job.name),
    ...jobColumns.map(([figure, , unit]) => make("td", {}, ...(job.size === 1 && unit === 1 && (figure === "size" || figure === "perUnit") ? ["–"] : amount(job[figure], unit)))))));
}

function show(report) {
  keep(samples.process, report.process);
  for (const allocator of report.allocators) {
    if (!samples.allocators.has(allocator.name)) samples.allocators.set(allocator.name, section(allocator));
    const shown = samples.allocators.get(allocator.name);
    keep(shown.list, allocator.samples);
    const sample = shown.list[shown.list.length - 1];
    if (sample === undefined) continue;
    shown.made.querySelector("dl").replaceChildren(
      ...entries(memorySeries, sample, MiB), entry("waiting", "waiting", sample.waiting, 1),
      entry("", "admitted", allocator.admitted, 1), entry("", "refused", allocator.refused, 1), entry("", "abandoned", allocator.abandoned, 1));
    showJobs(shown.made.querySelector("table"), allocator.jobs);
    chart(shown.memory, memorySeries, shown.list, MiB);
    chart(shown.requests, requestSeries, shown.list, 1);
  }
  const process = samples.process[samples.process.length - 1];
  if (process !== undefined) {
    last = process.time;
    document.getElementById("process-title").textContent = `${sources[report.source] ?? "Machine"}, MiB`;
    document.getElementById("process-values").replaceChildren(...entries(processSeries, process, MiB));
    chart(document.getElementById("process"), processSeries, samples.process, MiB);
    const seconds = Math.round((process.time - samples.process[0].time) / 1000);
    const span = seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
    document.getElementById("state").textContent = `The last ${span}, read each second since the page was first opened.`;
  }
  showAllocations("outstanding", report.outstanding, report);
  showAllocations("leaks", report.leaks, report);
}

async function refresh() {
  try {
    const response = await fetch(`${document.body.dataset.samples}?after=${last}`, { cache: "no-store" });
    if (!response.ok) throw new Error(`status ${response.status}`);
    show(await response.json());
  } catch (error) {
    document.getElementById("state").textContent = `The service does not answer: ${error.message}`;
  }
  setTimeout(refresh, 1000);
}

refresh();
