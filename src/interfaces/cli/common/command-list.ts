type Terminal = Pick<NodeJS.WriteStream, "isTTY" | "columns">

/** Commands with what they do: side by side, or one below the other where the terminal is too narrow. */
export function commandList(
  rows: readonly (readonly [command: string, what: string])[],
  { isTTY, columns }: Terminal,
): string[] {
  const room = (isTTY && columns) || Infinity
  const margin = Math.max(...rows.map(([command]) => command.length))
  const widest = Math.max(...rows.map(([, what]) => margin + what.length + 4))
  return rows.flatMap(([command, what]) =>
    widest > room ? [`  ${command}`, `      ${what}`] : [`  ${command.padEnd(margin)}  ${what}`],
  )
}
