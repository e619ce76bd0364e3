/** An image inside a result. Interfaces that can show images do; texts never contain its bytes. */
export interface ResultImage {
  readonly mimeType: string
  /** Base64. */
  readonly data: string
}

/** The image in a result's field `image`, if there is one. */
export function imageIn(value: unknown): ResultImage | undefined {
  if (typeof value !== "object" || value === null || !("image" in value)) return undefined
  const { image } = value
  if (typeof image !== "object" || image === null) return undefined
  const { mimeType, data } = image as Partial<ResultImage>
  return typeof data === "string" && typeof mimeType === "string" && mimeType.startsWith("image/")
    ? { mimeType, data }
    : undefined
}

/** The result without the bytes of its image. */
export function withoutImageData(value: unknown): unknown {
  if (imageIn(value) === undefined) return value
  const { image, ...rest } = value as { image: Record<string, unknown> }
  const { data: _data, ...known } = image
  return { ...rest, image: known }
}

/** The same for images anywhere in the value, such as those in the outputs of a pipeline. */
export function withoutImages(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutImages)
  if (typeof value !== "object" || value === null) return value
  const fields = Object.entries(withoutImageData(value) as object)
  return Object.fromEntries(fields.map(([name, part]) => [name, withoutImages(part)]))
}
