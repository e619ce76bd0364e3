import { z } from "zod"
import { failure } from "../../core/ending.ts"
import { errorMessage } from "../../lib/error-message.ts"
import { toolRef, dialectText, type DialectText } from "../../core/dialect-text.ts"

const textOrLines = z.union([z.string(), z.array(z.string())])
const output = z.looseObject({
  output_type: z.string(),
  name: z.string().optional(),
  text: textOrLines.optional(),
  data: z.record(z.string(), z.unknown()).optional(),
  ename: z.string().optional(),
  evalue: z.string().optional(),
  traceback: z.array(z.string()).optional(),
})
const cell = z.looseObject({
  id: z.string().optional(),
  cell_type: z.string(),
  source: textOrLines,
  outputs: z.array(output).optional(),
  execution_count: z.number().nullish(),
  metadata: z.record(z.string(), z.unknown()).optional(),
})
const notebook = z.looseObject({
  nbformat: z.number(),
  nbformat_minor: z.number().optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  cells: z.array(cell),
})

export type Notebook = z.infer<typeof notebook>
export type NotebookCell = z.infer<typeof cell>
type Output = z.infer<typeof output>

const readIt = dialectText` Read it with ${toolRef("read_file")} to see what is wrong.`

/** Parses a Jupyter notebook of format 4, the format since 2015. `next` says what to do if it is not one. */
export function parseNotebook(text: string, path: string, next: string | DialectText = readIt): Notebook {
  const parsed = notebook.safeParse(jsonOf(text, path, next))
  if (parsed.success && parsed.data.nbformat >= 4) return parsed.data
  const old = parsed.success || (jsonOf(text, path, next) as { worksheets?: unknown } | null)?.worksheets !== undefined
  throw failure(
    old
      ? `${path} is a notebook of a format before 4. Convert it with jupyter nbconvert --to notebook.`
      : dialectText`${path} is not a Jupyter notebook: it lacks nbformat or cells.${next}`,
    { toolCode: "not_a_notebook" },
  )
}

/** One output of a cell. Images and other media are named, not shown. */
export interface ShownOutput {
  type: string
  name?: string
  text?: string
  media?: string[]
}

export function showOutput({
  output_type: type,
  name,
  text,
  data = {},
  ename,
  evalue,
  traceback,
}: Output): ShownOutput {
  const plain =
    joined(text) ?? joined(data["text/plain"]) ?? joined(data["text/markdown"]) ?? errorText(ename, evalue, traceback)
  const media = Object.entries(data)
    .filter(([kind]) => kind !== "text/plain")
    .map(([kind, value]) => `${kind} (${(joined(value) ?? JSON.stringify(value)).length} characters)`)
  return {
    type,
    ...(name === undefined ? {} : { name }),
    ...(plain === undefined ? {} : { text: plain.replace(escapes, "") }),
    ...(media.length === 0 ? {} : { media }),
  }
}

/** The cells as one text, for reading a notebook like a file. */
export function renderNotebook({ cells }: Notebook): string {
  return cells.map(renderCell).join("\n")
}

export function sourceOf(cell: Pick<NotebookCell, "source">): string {
  return joined(cell.source) ?? ""
}

function renderCell(cell: NotebookCell, index: number): string {
  const id = cell.id === undefined ? "" : ` id=${cell.id}`
  const outputs = (cell.outputs ?? []).map((output) => {
    const { type, text, media } = showOutput(output)
    const name = media === undefined ? type : `${type}: ${media.join(", ")}`
    return `[${name}]\n${text === undefined ? "" : ended(text)}`
  })
  return `--- cell ${index}${id} ${cell.cell_type} ---\n${ended(sourceOf(cell))}${outputs.join("")}`
}

function ended(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`
}

/** Terminal colours. */
const escapes = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*[A-Za-z]`, "g")

function errorText(name = "", value = "", traceback: readonly string[] = []): string | undefined {
  if (name === "" && value === "" && traceback.length === 0) return undefined
  return traceback.length > 0 ? traceback.join("\n") : `${name}: ${value}`
}

function joined(value: unknown): string | undefined {
  if (typeof value === "string") return value
  return Array.isArray(value) && value.every((part) => typeof part === "string") ? value.join("") : undefined
}

function jsonOf(text: string, path: string, next: string | DialectText): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    // Node quotes the text with its line ends.
    const why = errorMessage(error).replace(/\s+/g, " ")
    throw failure(dialectText`${path} is not a notebook: ${why}.${next}`, { toolCode: "not_a_notebook" })
  }
}
