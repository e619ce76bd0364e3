import { setTimeout as sleep } from "node:timers/promises"
import type { AgentActivity } from "../agents/society/overview.ts"
import { printableJson } from "../lib/printable.ts"
import { terminalStyleFor } from "../lib/terminal-style.ts"
import { agentRows, stateText } from "./agent-tree.ts"
import type { CliApp, CliContext } from "./context.ts"
import { onBrokenPipe, printMessage, printOutput } from "./output.ts"
import { withApp } from "./open-app.ts"
import { cancelOnSignal } from "./signals.ts"

const pollMs = 500

/** Shows who does what until Ctrl-C: a tree in a terminal, else a line for each change. */
export async function watchAgents(context: CliContext): Promise<number> {
  const { io, flags } = context
  const { controller, stop } = cancelOnSignal(io.leave, () => {})
  onBrokenPipe(io.stdout, () => controller.abort())
  try {
    return await withApp(context, {}, async (app) => {
      if (io.stdout.isTTY && !flags.json) await drawTree(context, app, controller.signal)
      else await printChanges(context, app, controller.signal)
      return 0
    })
  } finally {
    stop()
  }
}

async function drawTree({ io }: CliContext, app: CliApp, signal: AbortSignal): Promise<void> {
  const { LiveScreen } = await import("./chat/live-screen.ts")
  const paint = await terminalStyleFor(io.stdout, io.env)
  let activity: readonly AgentActivity[] = await app.society.overview()
  const screen = new LiveScreen(io.stdout, () => {
    const room = Math.max(3, (io.stdout.rows || 24) - 2)
    const all = agentRows(activity, { columns: screen.columns - 1, paint })
    const more = all.length > room ? [paint.dim(`… and ${all.length - room + 1} more`)] : []
    const rows = [...all.slice(0, more.length > 0 ? room - 1 : room), ...more, paint.dim("Press Ctrl-C to stop.")]
    return { rows, cursor: { row: rows.length - 1, column: 0 } }
  })
  screen.resume()
  const onResize = () => screen.drawNow()
  io.stdout.on("resize", onResize)
  while (!signal.aborted) {
    await sleep(pollMs, undefined, { signal }).catch(() => {})
    activity = await app.society.overview()
    screen.draw()
  }
  io.stdout.off("resize", onResize)
  screen.drawNow()
  screen.pause()
}

/** Prints an agent when what it does has changed. With --json, everything that is known of it. */
async function printChanges(context: CliContext, app: CliApp, signal: AbortSignal): Promise<void> {
  const { flags } = context
  if (!flags.json) printMessage(context, "Watching the agents. Press Ctrl-C to stop.")
  const shown = new Map<string, string>()
  while (!signal.aborted) {
    for (const each of await app.society.overview()) {
      const text = stateText(each)
      if (shown.get(each.agentId) === text) continue
      shown.set(each.agentId, text)
      printOutput(context, flags.json ? printableJson(each) : `${each.agentId} (${each.role}) ${text}`)
    }
    await sleep(pollMs, undefined, { signal }).catch(() => {})
  }
}
