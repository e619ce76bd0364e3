import { deflateSync } from "node:zlib"
import type { ResultImage } from "../../../../core/result-image.ts"

/** The rows that show a picture in so many columns; undefined where it cannot be shown. */
export type ShowPicture = (image: ResultImage, columns: number) => string[] | undefined

const mostColumns = 72
const mostRows = 24
const escape = "\u001b"

/**
 * Shows pictures in the way that the terminal understands: with the protocol of iTerm2 or of kitty where it has one of them,
 * else with coloured half blocks where it has all colours.
 */
export async function pictureShower(env: Readonly<Record<string, string | undefined>>): Promise<ShowPicture> {
  const way = wayOf(env)
  if (way === "none") return () => undefined
  const [{ imageSize }, { decode }] = await Promise.all([import("image-size"), import("jpeg-js")])
  const pixelsOf = (bytes: Buffer) => decode(bytes, { formatAsRGBA: false, maxResolutionInMP: 8, useTArray: true })
  return ({ mimeType, data }, columns) => {
    try {
      const bytes = Buffer.from(data, "base64")
      const area = areaFor(imageSize(bytes), columns)
      if (way === "iterm") return [itermPicture(bytes, area)]
      if (way === "kitty" && mimeType === "image/png") return [kittyPicture(bytes, "f=100", area)]
      if (mimeType !== "image/jpeg") return undefined
      const pixels = pixelsOf(bytes)
      if (way === "blocks") return halfBlocks(pixels, area)
      return [kittyPicture(deflateSync(pixels.data), `f=24,o=z,s=${pixels.width},v=${pixels.height}`, area)]
    } catch {
      // Not a picture, or one that is too large: the row that names it has to do.
      return undefined
    }
  }
}

function wayOf(env: Readonly<Record<string, string | undefined>>): "iterm" | "kitty" | "blocks" | "none" {
  const { TERM = "", TERM_PROGRAM = "", LC_TERMINAL, KITTY_WINDOW_ID, COLORTERM = "", NO_COLOR, TMUX } = env
  if (NO_COLOR) return "none"
  // tmux and screen pass on colours, but no pictures.
  if (TMUX === undefined && !/^(?:tmux|screen)/.test(TERM)) {
    if (KITTY_WINDOW_ID !== undefined || /kitty|ghostty/.test(TERM)) return "kitty"
    if (/^(?:iTerm\.app|WezTerm|mintty)$/.test(TERM_PROGRAM) || LC_TERMINAL === "iTerm2") return "iterm"
  }
  return /^(?:truecolor|24bit)$/.test(COLORTERM) ? "blocks" : "none"
}

interface Size {
  width: number
  height: number
}

/** The columns and rows for a picture. A row is about twice as high as a column is wide. */
function areaFor({ width, height }: Size, columns: number): { columns: number; rows: number } {
  const widest = Math.max(1, Math.min(mostColumns, columns - 3))
  const rows = Math.max(1, Math.min(mostRows, Math.round((widest * height) / width / 2)))
  return { rows, columns: Math.max(1, Math.min(widest, Math.round((rows * 2 * width) / height))) }
}

type Area = ReturnType<typeof areaFor>

function itermPicture(bytes: Buffer, { columns, rows }: Area): string {
  const how = `inline=1;size=${bytes.length};width=${columns};height=${rows};preserveAspectRatio=1`
  return `  ${escape}]1337;File=${how}:${bytes.toString("base64")}\u0007`
}

/** kitty takes at most 4,096 characters at once. */
function kittyPicture(bytes: Buffer, format: string, { columns, rows }: Area): string {
  const pieces = bytes.toString("base64").match(/.{1,4096}/g) ?? []
  const last = pieces.length - 1
  const sent = pieces.map((piece, place) => {
    const how = place === 0 ? `a=T,q=2,${format},c=${columns},r=${rows},` : ""
    return `${escape}_G${how}m=${place === last ? 0 : 1};${piece}${escape}\\`
  })
  return `  ${sent.join("")}`
}

/** Two pixels in each character: the upper half in its colour, the lower half in that of its background. */
function halfBlocks(pixels: Size & { data: Uint8Array }, { columns, rows }: Area): string[] {
  const colour = (column: number, half: number) =>
    averageOf(pixels, column / columns, half / (rows * 2), columns, rows * 2)
  return Array.from({ length: rows }, (_, row) => {
    const characters = Array.from(
      { length: columns },
      (_, column) => `${escape}[38;2;${colour(column, row * 2)};48;2;${colour(column, row * 2 + 1)}m▀`,
    )
    return `  ${characters.join("")}${escape}[0m`
  })
}

/** The mean colour of the part of the picture that begins at these shares of its width and height. */
function averageOf(
  { width, height, data }: Size & { data: Uint8Array },
  left: number,
  top: number,
  across: number,
  down: number,
): string {
  const sum = [0, 0, 0]
  const [fromX, fromY] = [Math.floor(left * width), Math.floor(top * height)]
  const toX = Math.max(fromX + 1, Math.floor((left + 1 / across) * width))
  const toY = Math.max(fromY + 1, Math.floor((top + 1 / down) * height))
  for (let y = fromY; y < toY; y++)
    for (let x = fromX; x < toX; x++) for (const part of [0, 1, 2]) sum[part]! += data[(y * width + x) * 3 + part] ?? 0
  const count = (toX - fromX) * (toY - fromY)
  return sum.map((each) => Math.round(each / count)).join(";")
}
