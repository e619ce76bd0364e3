import type { Quartermaster } from "../../../../app/quartermaster.ts"
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { CliCommand } from "../../common/cli-command.ts"
import { shellWord } from "../../../../lib/shell-word.ts"
import type { CliContext, Io, Run } from "../../common/context.ts"
import { readDemoLog } from "./demo-log.ts"
import type { DemoReport } from "./demo-report.ts"
import { scenes, type Scene, type Seen } from "./demo-scenes.ts"
import { playStory } from "./demo-story.ts"
import { withApp } from "../../common/open-app.ts"
import { printMessage } from "../../common/output.ts"
import { processRuntime } from "../../common/runtime.ts"
import { templateFolder } from "./sample.ts"
import { cancelOnSignal } from "../../common/signals.ts"
import { UsageError } from "../../common/usage.ts"

interface DemoFlags {
  fast?: boolean
  keep?: boolean
}

export function addDemo(program: CliCommand, run: Run): void {
  program
    .command("demo")
    .example("qm demo", "qm demo --fast --keep")
    .description("watch a scripted team at work, in half a minute; needs no key, no network and no setup")
    .option("--fast", "without pauses")
    .option("--keep", "keep the folder that it works in, to look at its audit log")
    .addHelpText("after", demoExitCodes)
    .action(run(demo))
}

const demoExitCodes = `
Exit codes:
  0  everything happened, as the audit log says
  1  a part did not happen
  6  it was stopped`

/** Time to read each scene before the next one. */
const pauseMs = 2500

/** Interval at which the audit log is read while the next scene has not happened. */
const lookMs = 50

/** Lets a scripted team work in a folder of its own, and tells what the audit log has of it. */
async function demo(context: CliContext, { fast = false, keep = false }: DemoFlags): Promise<number> {
  const { io, flags } = context
  if (flags.config !== undefined || flags.data !== undefined || flags.set.length > 0)
    throw new UsageError("The demo has a configuration and data of its own. Leave --config, --data and --set out.")
  const folder = makeFolder()
  const remove = () => {
    if (!keep) rmSync(folder, { recursive: true, force: true })
  }
  // A second Ctrl-C does not wait, but leaves nothing behind either.
  const leave = (code: number) => {
    remove()
    io.leave(code)
  }
  const { controller, stop } = cancelOnSignal(leave, () => printMessage(context, "Stopping."))
  const { signal } = controller
  try {
    const inside = await insideFolder(context, folder, keep)
    const { jsonDemoReport, textDemoReport } = await import("./demo-report.ts")
    const report = flags.json ? jsonDemoReport(context) : await textDemoReport(context)
    const pause = fast || flags.json || !io.stdout.isTTY ? 0 : pauseMs
    const watch = pause === 0 ? undefined : `qm --config ${shellWord(configIn(folder))} agents watch`
    const missing = await withApp(inside, { longLived: true }, (app) => {
      report.start(watch)
      return play(app, report, pause, signal)
    })
    if (signal.aborted) {
      const left = keep ? `Its folder is kept: ${folder}` : "Nothing of it is left."
      printMessage(context, `The demo was stopped before its end. ${left}`)
      return 6
    }
    report.end(missing.length === 0, keep ? folder : undefined)
    for (const { expects } of missing) printMessage(context, `This part did not happen: ${expects}.`)
    if (missing.length > 0)
      printMessage(context, "So the demo has failed. 'qm demo --keep' keeps its folder, to see what happened instead.")
    if (keep) printMessage(context, `Its folder is kept. Look at it with: qm -C ${shellWord(folder)} audit list`)
    return missing.length === 0 ? 0 : 1
  } finally {
    stop()
    remove()
  }
}

/** Shows each scene once it is in the audit log, and returns those that never were. */
async function play(app: Quartermaster, report: DemoReport, pause: number, signal: AbortSignal): Promise<Scene[]> {
  let isOver = false
  const story = playStory(app, pause, signal).finally(() => (isOver = true))
  // It is awaited below; until then it must not count as unhandled.
  story.catch(() => {})
  const missing: Scene[] = []
  for (const scene of scenes) {
    let seen: Seen | undefined
    for (;;) {
      // Read before the log, so that the last look sees all of the story.
      const isLast = isOver
      seen = scene.look(await readDemoLog(app, isLast))
      if (seen !== undefined || isLast) break
      await sleep(lookMs)
    }
    if (signal.aborted) break
    if (seen === undefined) missing.push(scene)
    report.scene(scene, seen)
    await sleep(pause, undefined, { signal }).catch(() => {})
  }
  const answer = await story
  if (answer !== undefined) report.answer(answer)
  return missing
}

/** A copy of the sample's files in a new folder. It names its data, so that whoever names its file can watch. */
function makeFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "qm-demo-")))
  cpSync(templateFolder(), folder, { recursive: true })
  appendFileSync(configIn(folder), "data: .quartermaster\n")
  return folder
}

function configIn(folder: string): string {
  return join(folder, "quartermaster.yml")
}

/** The context of the folder. Nothing of the user's counts there, and only a folder that is kept is remembered. */
async function insideFolder({ io, flags }: CliContext, folder: string, keep: boolean): Promise<CliContext> {
  const config = configIn(folder)
  const env = Object.fromEntries(
    Object.entries(io.env).filter(([name]) => !name.startsWith("QM_") && name !== "QUARTERMASTER_DATA"),
  )
  const home = keep ? io.home : join(folder, "home")
  if (keep) {
    const { trust } = await import("../../../../config/trust.ts")
    trust(config, home, env)
  } else mkdirSync(home)
  const own: Io = { ...io, cwd: folder, env, home }
  return { io: own, flags: { json: flags.json, set: [], config }, runtime: processRuntime(own) }
}
