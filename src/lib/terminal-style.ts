export type Colour = (text: string) => string

export interface TerminalStyle {
  bold: Colour
  dim: Colour
  green: Colour
  yellow: Colour
  red: Colour
  cyan: Colour
}

const plain: Colour = (text) => text
export const plainStyle: TerminalStyle = {
  bold: plain,
  dim: plain,
  green: plain,
  yellow: plain,
  red: plain,
  cyan: plain,
}

/** Colours for a person's terminal, and none anywhere else. */
export async function terminalStyleFor(
  output: { isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): Promise<TerminalStyle> {
  if (output.isTTY !== true || env["NO_COLOR"]) return plainStyle
  const { default: picocolors } = await import("picocolors")
  return picocolors.createColors(true)
}
