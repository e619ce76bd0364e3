import { randomBytes } from "node:crypto"
import { failure } from "../../core/ending.ts"
import { toolRef, dialectText } from "../../core/dialect-text.ts"
import { jsonRanges, type JsonRange } from "./json-ranges.ts"
import { sourceOf, type Notebook, type NotebookCell } from "../../platform/text/notebook.ts"

export type CellType = "code" | "markdown" | "raw"

/** One change of a notebook. */
export interface NotebookChange {
  readonly mode: "replace" | "insert" | "delete"
  readonly cellId?: string
  readonly cellIndex?: number
  readonly source: string
  readonly cellType?: CellType
}

export interface ChangedNotebook {
  readonly text: string
  /** The index of the cell, or its former index if it was deleted. */
  readonly index: number
  readonly cellId?: string
  readonly cellType: string
  readonly oldSource?: string
  readonly totalCells: number
}

/** The text of the notebook with the change. Everything outside the changed cell stays as it is. */
export function changeNotebook(
  text: string,
  notebook: Notebook,
  change: NotebookChange,
  path: string,
): ChangedNotebook {
  const place = indexOf(notebook, change, path)
  const cells = jsonRanges(text).members!.get("cells")!.value
  const style = styleOf(text, cells)
  if (change.mode === "insert") return inserted(text, notebook, change, { cells, place, style })
  const cell = notebook.cells[place]!
  const summary = { index: place, cellId: cell.id, oldSource: sourceOf(cell) }
  const total = notebook.cells.length
  if (change.mode === "delete") {
    return { text: without(text, cells, place), ...summary, cellType: cell.cell_type, totalCells: total - 1 }
  }
  const cellType = change.cellType ?? cell.cell_type
  const range = cells.items![place]!
  const fresh =
    cellType === cell.cell_type
      ? replacedIn(text, range, cell, change.source, style)
      : written(asType(cell, cellType, valueOf(change.source, cell)), style, style.depth)
  if (fresh === text.slice(range.start, range.end)) {
    throw failure("The cell is already like that. Say what to change.", { toolCode: "no_change" })
  }
  return { text: spliced(text, range, fresh), ...summary, cellType, totalCells: total }
}

const whichCell = dialectText`No cell is named. Give ${toolRef("edit_notebook", "cellId")} or ${toolRef("edit_notebook", "cellIndex")}; ${toolRef("read_notebook")} shows both.`

/** The index of the named cell; for an insertion the cell before it, -1 for the beginning. */
function indexOf({ cells }: Notebook, { mode, cellId, cellIndex }: NotebookChange, path: string): number {
  if (cellId === undefined && cellIndex === undefined) {
    if (mode === "insert") return -1
    throw failure(whichCell, {
      toolCode: "no_such_cell",
    })
  }
  const place = cellId === undefined ? cellIndex! : cells.findIndex(({ id }) => id === cellId)
  if (place >= 0 && place < cells.length) return place
  const which = cellId === undefined ? `cell ${cellIndex}` : `cell with the id ${cellId}`
  throw failure(
    dialectText`${path} has no ${which}; it has ${cells.length} cells, counted from 0. Call ${toolRef("read_notebook")} to see them.`,
    {
      toolCode: "no_such_cell",
    },
  )
}

/** The format of the file. */
interface Style {
  /** Undefined if everything is on one line. */
  readonly indent: string | undefined
  readonly lineEnd: string
  /** The nesting depth of a cell. */
  readonly depth: number
}

function styleOf(text: string, cells: JsonRange): Style {
  const [, lineEnd, indent] = /^\s*\{(\r?\n)([ \t]*)/.exec(text) ?? []
  const isSpread = cells.items!.length === 0 || /\n/.test(text.slice(cells.start, cells.items![0]!.start))
  return { indent: isSpread ? indent : undefined, lineEnd: lineEnd ?? "\n", depth: 2 }
}

function inserted(
  text: string,
  notebook: Notebook,
  { source, cellType = "code" }: NotebookChange,
  { cells, place, style }: { cells: JsonRange; place: number; style: Style },
): ChangedNotebook {
  const index = place + 1
  const id = hasIds(notebook) ? freshId(notebook) : undefined
  const like = notebook.cells.at(Math.max(0, place))
  const cell: NotebookCell = {
    cell_type: cellType,
    ...(cellType === "code" ? { execution_count: null } : {}),
    ...(id === undefined ? {} : { id }),
    metadata: {},
    ...(cellType === "code" ? { outputs: [] } : {}),
    source: valueOf(source, like),
  }
  const totalCells = notebook.cells.length + 1
  return { text: put(text, cells, index, cell, style), index, cellId: id, cellType, totalCells }
}

function put(text: string, cells: JsonRange, index: number, cell: NotebookCell, style: Style): string {
  const items = cells.items!
  const fresh = written(cell, style, style.depth)
  const gap = style.indent === undefined ? "" : style.lineEnd + style.indent.repeat(style.depth)
  if (items.length === 0) {
    const close = style.indent === undefined ? "" : style.lineEnd + style.indent.repeat(style.depth - 1)
    return spliced(text, cells, `[${gap}${fresh}${close}]`)
  }
  const comma = style.indent === undefined ? ", " : `,${gap}`
  if (index === 0) return spliced(text, at(items[0]!.start), `${fresh}${comma}`)
  return spliced(text, at(items[index - 1]!.end), `${comma}${fresh}`)
}

/** Also removes the comma after the cell, or before it for the last cell. */
function without(text: string, cells: JsonRange, place: number): string {
  const items = cells.items!
  const { start, end } = items[place]!
  if (items.length === 1) return spliced(text, cells, "[]")
  const gone =
    place + 1 < items.length ? { start, end: items[place + 1]!.start } : { start: items[place - 1]!.end, end }
  return spliced(text, gone, "")
}

/** The cell with another source, and without the outputs of the old one. */
function replacedIn(text: string, range: JsonRange, cell: NotebookCell, source: string, style: Style): string {
  const members = range.members!
  const fresh: [JsonRange, string][] = [
    [members.get("source")!.value, written(valueOf(source, cell), style, style.depth + 1)],
  ]
  const outputs = members.get("outputs")
  const count = members.get("execution_count")
  if (cell.cell_type === "code" && outputs !== undefined) fresh.push([outputs.value, "[]"])
  if (cell.cell_type === "code" && count !== undefined) fresh.push([count.value, "null"])
  fresh.sort(([a], [b]) => b.start - a.start)
  const whole = fresh.reduce((now, [where, value]) => spliced(now, where, value), text)
  return whole.slice(range.start, range.end + whole.length - text.length)
}

function asType(cell: NotebookCell, cellType: string, source: NotebookCell["source"]): NotebookCell {
  const { outputs: _outputs, execution_count: _count, ...rest } = cell
  const ran = cellType === "code" ? { execution_count: null, outputs: [] } : {}
  return { ...rest, ...ran, cell_type: cellType, source }
}

/** The source as a list of lines, or as one text if the other cells have it so. */
function valueOf(source: string, like: NotebookCell | undefined): NotebookCell["source"] {
  return typeof like?.source === "string" ? source : (source.match(/[^\n]*\n|[^\n]+$/g) ?? [])
}

function hasIds({ nbformat, nbformat_minor = 0, cells }: Notebook): boolean {
  return nbformat > 4 || nbformat_minor >= 5 || cells.some(({ id }) => id !== undefined)
}

function freshId({ cells }: Notebook): string {
  for (;;) {
    const id = randomBytes(4).toString("hex")
    if (!cells.some((cell) => cell.id === id)) return id
  }
}

function written(value: unknown, { indent, lineEnd }: Style, depth: number): string {
  if (indent === undefined) return JSON.stringify(value)
  return JSON.stringify(value, null, indent).replaceAll("\n", lineEnd + indent.repeat(depth))
}

function spliced(text: string, { start, end }: { start: number; end: number }, fresh: string): string {
  return text.slice(0, start) + fresh + text.slice(end)
}

const at = (place: number) => ({ start: place, end: place })
