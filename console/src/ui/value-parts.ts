import { isObject } from "../../../src/lib/is-object.ts"

const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined)
const blocksOf = (value: unknown): readonly unknown[] =>
  isObject(value) && Array.isArray(value["content"]) ? value["content"] : []

/** The text in a value, as people would read it: a text itself, what a command printed, the texts of MCP blocks. */
export function textIn(value: unknown): string | undefined {
  if (typeof value === "string") return value
  if (!isObject(value)) return undefined
  const printed = [text(value["stdout"]), text(value["stderr"])].filter((one) => one !== undefined)
  if (printed.length > 0) return printed.join("\n")
  const blocks = blocksOf(value).map((block) =>
    isObject(block) && block["type"] === "text" ? text(block["text"]) : undefined,
  )
  const said = blocks.filter((one) => one !== undefined)
  if (said.length > 0) return said.join("\n")
  return text(value["content"]) ?? text(value["text"]) ?? text(value["diff"])
}

/** The code that a command ended with, where the value is what a command left. */
export function exitCodeIn(value: unknown): number | undefined {
  const code = isObject(value) ? value["exitCode"] : undefined
  return typeof code === "number" ? code : undefined
}

const isShownImage = (mimeType: unknown): mimeType is string =>
  typeof mimeType === "string" && /^image\/(png|jpeg|gif|webp)$/.test(mimeType)

/** The images in a value as addresses for the page: MCP blocks, or the value itself. */
export function imagesIn(value: unknown): readonly string[] {
  return [value, isObject(value) ? value["image"] : undefined, ...blocksOf(value)].flatMap((part) => {
    if (!isObject(part)) return []
    const { mimeType, data } = part
    return isShownImage(mimeType) && typeof data === "string" ? [`data:${mimeType};base64,${data}`] : []
  })
}

/** The images of a recorded value: the record has no bytes, but names the artifacts that have them. */
export function storedImagesIn(value: unknown): { mimeType: string; refs: readonly string[] } | undefined {
  if (!isObject(value) || !isObject(value["image"]) || !Array.isArray(value["images"])) return undefined
  const { mimeType, data } = value["image"]
  if (!isShownImage(mimeType) || data !== undefined) return undefined
  return { mimeType, refs: value["images"].filter((each) => typeof each === "string") }
}

/** The value with the size of its image in place of the bytes, which are a long row that nobody reads. */
export function withoutImageBytes(value: unknown): unknown {
  if (!isObject(value) || !isObject(value["image"])) return value
  const { data } = value["image"]
  if (typeof data !== "string" || data.length < 200) return value
  return { ...value, image: { ...value["image"], data: `${Math.round((data.length * 3) / 4096)} KB` } }
}
