import { isObject } from "../lib/is-object.ts"
/** An image inside a result. Interfaces that can show images do; texts never contain its bytes. */
export interface ResultImage {
  readonly mimeType: string
  /** Base64. */
  readonly data: string
}

type Fields = Readonly<Record<string, unknown>>

/** The image in a result: in its field `image`, or the first among the blocks of an MCP result. */
export function imageIn(value: unknown): ResultImage | undefined {
  if (!isObject(value)) return undefined
  const found = isImage(value["image"]) ? value["image"] : blocksOf(value).find(isImage)
  return found && { mimeType: found.mimeType, data: found.data }
}

/** The most that providers take, in characters of Base64. */
const mostImageCharacters = 5_000_000

/** The image in a result, if models can look at it. */
export function imageForModel(value: unknown): ResultImage | undefined {
  const image = imageIn(value)
  const isShown = image !== undefined && /^image\/(?:png|jpeg|gif|webp)$/.test(image.mimeType)
  return isShown && image.data.length <= mostImageCharacters ? image : undefined
}

/** An image as a `data:` URL. */
export function dataUrl({ mimeType, data }: ResultImage): string {
  return `data:${mimeType};base64,${data}`
}

/** The result without the bytes of its images. */
export function withoutImageData(value: unknown): unknown {
  if (!isObject(value)) return value
  if (isImage(value["image"])) return { ...value, image: withoutData(value["image"]) }
  const blocks = blocksOf(value)
  if (!blocks.some(isImage)) return value
  return { ...value, content: blocks.map((block) => (isImage(block) ? withoutData(block) : block)) }
}

/** The same for images anywhere in the value, such as those in the outputs of a pipeline. */
export function withoutImages(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutImages)
  if (!isObject(value)) return value
  const fields = Object.entries(withoutImageData(value) as object)
  return Object.fromEntries(fields.map(([name, part]) => [name, withoutImages(part)]))
}

function withoutData({ data: _data, ...known }: Fields): Fields {
  return known
}

function isImage(value: unknown): value is Fields & ResultImage {
  if (!isObject(value)) return false
  const { mimeType, data } = value
  return typeof data === "string" && typeof mimeType === "string" && mimeType.startsWith("image/")
}

function blocksOf({ content }: Fields): readonly unknown[] {
  return Array.isArray(content) ? content : []
}
