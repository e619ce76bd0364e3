import { z } from "zod"
import { failure } from "../../model/ending.ts"
import { messageOf } from "../../model/message.ts"

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

/** A Jupyter notebook of format 4, which is what there has been since 2015. */
export function parseNotebook(text: string, path: string): Notebook {
  const parsed = notebook.safeParse(jsonOf(text, path))
  if (parsed.success && parsed.data.nbformat >= 4) return parsed.data
  const old = parsed.success || (jsonOf(text, path) as { worksheets?: unknown } | null)?.worksheets !== undefined
  throw failure(
    old
      ? `${path} is a notebook of a format before 4. Convert it with jupyter nbconvert --to notebook.`
      : `${path} is no Jupyter notebook: it lacks nbformat or cells. Read it with read_file and encoding utf-8.`,
    { toolCode: "not_a_notebook" },
  )
}

/** What one output of a cell shows; images and other media are named, not shown. */
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

/** The cells as one text, for whoever reads a notebook like a file. */
export function renderNotebook({ cells }: Notebook): string {
  return cells.map(renderCell).join("\n")
}

export function sourceOf(cell: Pick<NotebookCell, "source">): string {
  return joined(cell.source) ?? ""
}

function renderCell(cell: NotebookCell, index: number): string {
  const id = cell.id === undefined ? "" : ` id=${cell.id}`
  const outputs = (cell.outputs ?? []).map((one) => {
    const { type, text, media } = showOutput(one)
    const name = media === undefined ? type : `${type}: ${media.join(", ")}`
    return `[${name}]\n${text === undefined ? "" : ended(text)}`
  })
  return `--- cell ${index}${id} ${cell.cell_type} ---\n${ended(sourceOf(cell))}${outputs.join("")}`
}

function ended(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`
}

/** The colours of a terminal. */
const escapes = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*[A-Za-z]`, "g")

function errorText(name = "", value = "", traceback: readonly string[] = []): string | undefined {
  if (name === "" && value === "" && traceback.length === 0) return undefined
  return traceback.length > 0 ? traceback.join("\n") : `${name}: ${value}`
}

function joined(value: unknown): string | undefined {
  if (typeof value === "string") return value
  return Array.isArray(value) && value.every((part) => typeof part === "string") ? value.join("") : undefined
}

function jsonOf(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    // Node quotes the text it could not read, line ends and all.
    const why = messageOf(error).replace(/\s+/g, " ")
    throw failure(`${path} is no notebook: ${why}. Read it with read_file and encoding utf-8 to see what is wrong.`, {
      toolCode: "not_a_notebook",
    })
  }
}
