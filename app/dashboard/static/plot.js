// Draws the plots of a page with uPlot. The figures are in tables, too.
"use strict";

(() => {
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const count = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
  const money = (v) => (v == null ? "" : "$" + v.toFixed(v !== 0 && Math.abs(v) < 0.1 ? 4 : 2));
  const drawn = new Map(); // element -> plot

  const axis = (more) => ({
    stroke: style("--soft"), font: "12px system-ui, sans-serif",
    grid: { stroke: style("--line"), width: 1 }, ticks: { stroke: style("--line"), width: 1 }, ...more,
  });

  function contextPlot(data) {
    const colors = [style("--c0"), style("--soft")];
    return {
      data: [data.x, ...data.series.map((s) => s.values ?? [])],
      options: {
        scales: { x: { time: false }, y: { range: (_, low, high) => [0, (high || 1) * 1.05] } },
        axes: [axis({ incrs: [1, 2, 5, 10, 20, 50, 100] }), axis({ size: 56, values: (_, v) => v.map((n) => count.format(n)) })],
        series: [{ label: "Report" }, ...data.series.map((s, i) => ({
          label: s.label, stroke: colors[i], width: i ? 1.5 : 2, dash: i ? [6, 4] : undefined,
          fill: i ? undefined : colors[0] + "22", points: { show: i === 0 && data.x.length < 60 },
          value: (_, v) => (v == null ? "–" : count.format(v)),
        }))],
      },
    };
  }

  // Bars that stand on each other: each is drawn from the ground to the sum of
  // those below and itself, the highest first.
  function daysPlot(data) {
    const sums = data.x.map(() => 0);
    const stacked = data.series.map((s) => (s.values ?? []).map((v, i) => (sums[i] += v ?? 0)));
    const show = data.unit === "dollars" ? money : (v) => (v == null ? "" : count.format(v));
    const bars = uPlot.paths.bars({ size: [0.7, 40], gap: 1 });
    return {
      data: [data.x, ...stacked.slice().reverse()],
      options: {
        scales: { // half a day on either side, for the bars
          x: { range: (_, low, high) => [low - 43200, high + 43200] },
          y: { range: (_, low, high) => [0, high > 0 ? high * 1.08 : 1] },
        },
        axes: [axis({ values: (_, v) => v.map((t) => new Date(t * 1000).toLocaleDateString("en", { day: "numeric", month: "short" })), space: 64, incrs: [86400, 2 * 86400, 7 * 86400, 14 * 86400, 30 * 86400] }),
          axis({ size: 64, values: (_, v) => v.map(show), ...(data.unit === "dollars" ? {} : { incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000, 10000] }) })],
        series: [{ label: "Day", value: (_, t) => (t == null ? "–" : new Date(t * 1000).toLocaleDateString("en", { day: "numeric", month: "short", year: "numeric" })) },
          ...data.series.map((s, i) => ({
            label: s.label, stroke: style("--c" + (i % 8)), fill: style("--c" + (i % 8)), width: 0, paths: bars, points: { show: false },
            value: (u, _, __, at) => (at == null ? "–" : show(s.values[at])),
          })).reverse()],
      },
    };
  }

  async function draw(element) {
    let data;
    try {
      data = await (await fetch(element.dataset.plot)).json();
    } catch {
      return; // the banner says that nobody answers
    }
    if (!element.isConnected || !data.x.length) return;
    const { data: columns, options } = data.kind === "days" ? daysPlot(data) : contextPlot(data);
    drawn.get(element)?.destroy();
    element.replaceChildren();
    const plot = new uPlot({ width: Math.max(240, element.clientWidth), height: 260, cursor: { drag: { x: false, y: false } }, ...options }, columns, element);
    drawn.set(element, plot);
  }

  window.dashboardPlots = (within) => {
    for (const [element, plot] of drawn) {
      if (element.isConnected) continue;
      plot.destroy();
      drawn.delete(element);
    }
    within.querySelectorAll("[data-plot]").forEach(draw);
  };

  new ResizeObserver(() => {
    for (const [element, plot] of drawn) plot.setSize({ width: Math.max(240, element.clientWidth), height: 260 });
  }).observe(document.getElementById("main"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => [...drawn.keys()].forEach(draw));
})();
