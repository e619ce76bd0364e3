import type { Io } from "./house.ts"

type Colour = (text: string) => string

export interface Paint {
  bold: Colour
  dim: Colour
  green: Colour
  yellow: Colour
  red: Colour
}

const plain: Colour = (text) => text
const noPaint: Paint = { bold: plain, dim: plain, green: plain, yellow: plain, red: plain }

/** Colours for a person's terminal, and none anywhere else. */
export async function paintFor({ stdout, env }: Io): Promise<Paint> {
  if (!stdout.isTTY || env["NO_COLOR"]) return noPaint
  const { default: picocolors } = await import("picocolors")
  return picocolors.createColors(true)
}
