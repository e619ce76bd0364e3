import type { Io } from "./house.ts"

export interface Paint {
  bold(text: string): string
  dim(text: string): string
  green(text: string): string
  yellow(text: string): string
  red(text: string): string
}

const plain = (text: string) => text
const noPaint: Paint = { bold: plain, dim: plain, green: plain, yellow: plain, red: plain }

/** Colours for a person's terminal, and none anywhere else. */
export async function paintFor({ stdout, env }: Io): Promise<Paint> {
  if (stdout.isTTY !== true || env["NO_COLOR"]) return noPaint
  const { default: picocolors } = await import("picocolors")
  return picocolors.createColors(true)
}
