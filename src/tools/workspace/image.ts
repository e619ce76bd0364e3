import type { FileKind } from "./magic.ts"

/** An image as a model is shown it. */
export interface ShownImage {
  readonly mimeType: string
  /** In pixels; left out where the file does not say. */
  readonly width?: number | undefined
  readonly height?: number | undefined
  /** In Base64; left out where it is larger than models take. */
  readonly data?: string | undefined
}

/** Larger ones no model takes. */
const mostBytes = 5 * 1024 * 1024

/** The image and a sentence about it. */
export async function describeImage(bytes: Buffer, kind: FileKind): Promise<{ content: string; image: ShownImage }> {
  const size = await sizeOf(bytes)
  const pixels = size === undefined ? "of unknown dimensions" : `${size.width} × ${size.height} pixels`
  const fits = bytes.length <= mostBytes
  const much = fits ? "" : ` It is larger than the ${mostBytes} bytes that can be shown; make it smaller to look at it.`
  return {
    content: `${kind.name.charAt(0).toUpperCase()}${kind.name.slice(1)}, ${pixels}, ${bytes.length} bytes.${much}`,
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
