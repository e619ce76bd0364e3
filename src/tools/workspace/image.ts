import { counted } from "../../lib/counted.ts"
import type { FileKind } from "../../platform/text/file-signatures.ts"

/** An image as shown to a model. */
export interface ShownImage {
  readonly mimeType: string
  /** In pixels; left out if unknown. */
  readonly width?: number
  readonly height?: number
  /** In Base64; left out if it is too large for models. */
  readonly data?: string
}

/** The largest image that models accept. */
const maxBytes = 5 * 1024 * 1024

/** The image and a sentence that describes it. */
export async function describeImage(bytes: Buffer, kind: FileKind): Promise<{ content: string; image: ShownImage }> {
  const size = await sizeOf(bytes)
  const pixels = size === undefined ? "of unknown dimensions" : `${size.width} × ${size.height} pixels`
  const fits = bytes.length <= maxBytes
  const tooLarge = fits
    ? ""
    : ` It is larger than the ${maxBytes} bytes that can be shown; make it smaller to look at it.`
  return {
    content: `${kind.name.charAt(0).toUpperCase()}${kind.name.slice(1)}, ${pixels}, ${counted(bytes.length, "byte")}.${tooLarge}`,
    image: { mimeType: kind.mimeType, ...size, ...(fits ? { data: bytes.toString("base64") } : {}) },
  }
}

async function sizeOf(bytes: Buffer): Promise<{ width: number; height: number } | undefined> {
  const { imageSize } = await import("image-size")
  try {
    const { width, height } = imageSize(bytes)
    return { width, height }
  } catch {
    return undefined
  }
}
