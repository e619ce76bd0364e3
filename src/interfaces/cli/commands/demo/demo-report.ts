import { printable, printableJson } from "../../../../lib/printable.ts"
import { terminalStyleFor } from "../../../../lib/terminal-style.ts"
import { wrap } from "../chat/layout.ts"
import type { CliContext } from "../../common/context.ts"
import type { Scene, Seen } from "./demo-scenes.ts"
import { printOutput } from "../../common/output.ts"
import { columnsOf } from "../../terminal/table.ts"
import { asTyped } from "../../common/typed-command.ts"

/** Shows the demo: to people as it happens, or to programs at its end. */
export interface DemoReport {
  /** `watch` is the command that shows the agents in another terminal, where there is time for it. */
  start(watch: string | undefined): void
  /** `seen` is undefined for a scene that did not happen. */
  scene(scene: Scene, seen: Seen | undefined): void
  answer(text: string): void
  end(isComplete: boolean, folder: string | undefined): void
}

/** One JSON object at the end. */
export function jsonDemoReport(context: CliContext): DemoReport {
  const shown: object[] = []
  let said: string | undefined
  return {
    start() {},
    scene({ name, why }, seen) {
      const calls = seen?.calls.map(({ callId }) => callId)
      shown.push({ scene: name, happened: seen !== undefined, what: seen?.what, why, calls })
    },
    answer: (text) => void (said = text),
    end: (complete, folder) =>
      printOutput(context, printableJson({ complete, scenes: shown, answer: said, ...(folder && { folder }) })),
  }
}

const labelWidth = 12
/** Longer lines are harder to read. */
const widest = 110

/** Each scene with its name at the left: what happened, and below it why that matters. */
export async function textDemoReport({ io }: CliContext): Promise<DemoReport> {
  const paint = await terminalStyleFor(io.stdout, io.env)
  const signs = { done: paint.green("●"), refused: paint.yellow("⊘"), missing: paint.red("✗") }
  const indent = " ".repeat(labelWidth)
  const room = () => Math.max(20, Math.min(columnsOf(io.stdout), widest) - labelWidth - 1)
  const write = (lines: readonly string[]) => void io.stdout.write(`${lines.join("\n")}\n`)
  const rows = (text: string, colour = (row: string) => row) => wrap(printable(text), room()).map((row) => colour(row))
  const block = (sign: string, label: string, [first = "", ...others]: readonly string[]) => [
    `${sign} ${paint.bold(label.padEnd(labelWidth - 2))}${first}`,
    ...others.map((row) => `${indent}${row}`),
    "",
  ]
  const plain = (text: string) => wrap(text, room() + labelWidth)
  return {
    start(watch) {
      const also =
        watch === undefined ? [] : ["Watch the agents in another terminal, if you like:", `  ${asTyped(io, watch)}`]
      write([
        "",
        ...plain("A person, Ann, asks for a small change, and a team of agents makes it."),
        ...plain(
          "Scripts play Ann and the models. Everything else is real: each call, each decision, each record.",
        ).map(paint.dim),
        ...also.map(paint.dim),
        "",
      ])
    },
    scene({ name, sign, expects, why }, seen) {
      if (seen === undefined) write(block(signs.missing, name, rows(`This did not happen: ${expects}.`, paint.red)))
      else write(block(signs[sign], name, [...rows(seen.what), ...rows(why, paint.dim)]))
    },
    answer: (text) => write([...plain(`Root answers Ann: ${printable(text)}`), ""]),
    end(isComplete) {
      if (!isComplete) return
      const next =
        "All of it happened; the audit log is the proof. Your turn: 'qm serve --sample' opens a console in which you are asked."
      write(plain(asTyped(io, next)))
    },
  }
}
