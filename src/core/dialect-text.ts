/** A tool or parameter named in a sentence. Dialects may have another name for it. */
export interface ToolRef {
  readonly tool: string
  readonly parameter?: string
}

/** Words that are left out when the dialect has no such parameter. */
interface Clause {
  readonly where: ToolRef
  readonly words: DialectText
}

/** A sentence with placeholders for tool names, so that every caller reads the names of its own dialect. */
export type DialectText = readonly (string | ToolRef | Clause)[]

/** A dialect's names of tools and parameters, by `toolRefKey`. Null for a parameter that it does not have. */
export type DialectNames = ReadonlyMap<string, string | null>

/** ``dialectText`File not found: ${path}. Call ${toolRef("list_files")}.` `` */
export function dialectText(
  texts: TemplateStringsArray,
  ...values: readonly (string | number | ToolRef | Clause | DialectText)[]
): DialectText {
  return texts.flatMap((text, index) => {
    const value = values[index] ?? ""
    return [text, ...(typeof value === "number" ? [String(value)] : [value].flat())]
  })
}

export function toolRef(tool: string, parameter?: string): ToolRef {
  return { tool, parameter }
}

export function ifParameter(tool: string, parameter: string, words: DialectText): Clause {
  return { where: { tool, parameter }, words }
}

/** The sentence with native names, or with those of a dialect. */
export function renderDialectText(sentence: string | DialectText, names?: DialectNames): string {
  if (typeof sentence === "string") return sentence
  const parts = sentence.map((part) => {
    if (typeof part === "string") return part
    if (!("where" in part)) return names?.get(toolRefKey(part)) ?? part.parameter ?? part.tool
    return names?.get(toolRefKey(part.where)) === null ? "" : renderDialectText(part.words, names)
  })
  return parts.join("")
}

/** A key for `DialectNames`. It is unique because tool names have no spaces. */
export function toolRefKey({ tool, parameter }: ToolRef): string {
  return parameter === undefined ? tool : `${tool} ${parameter}`
}
