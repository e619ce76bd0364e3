/** A Markdown table that can be pasted into docs/BENCHMARKS.md as it is. The first column is text, the others figures. */
export function markdown(header, lines) {
  const cells = [header, ...lines].map((line) =>
    line.map((cell) => (typeof cell === "number" ? figure(cell) : (cell ?? ""))),
  )
  const widths = header.map((_, column) => Math.max(3, ...cells.map((line) => line[column].length)))
  const pad = (cell, column) => (column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column]))
  const rule = widths.map((width, column) => (column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`))
  return [cells[0].map(pad), rule, ...cells.slice(1).map((line) => line.map(pad))]
    .map((line) => `| ${line.join(" | ")} |`)
    .join("\n")
}

/** Three digits that count; more would be noise. */
export function rounded(number) {
  return Number(number.toPrecision(3))
}

export function figure(number) {
  return rounded(number).toLocaleString("en", { maximumFractionDigits: 12, useGrouping: number >= 10_000 })
}

export function median(figures) {
  const sorted = figures.toSorted((one, other) => one - other)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

export function range(figures) {
  return `${figure(Math.min(...figures))}..${figure(Math.max(...figures))}`
}
