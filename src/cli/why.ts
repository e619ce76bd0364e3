import type { Command } from "commander"
import type { Explanation } from "../model/app.ts"
import { readArguments } from "./arguments.ts"
import { schemaOf } from "./call.ts"
import { agentOf } from "./caller.ts"
import type { Run, Session } from "./house.ts"
import { answer } from "./output.ts"
import { meetTool } from "./servers.ts"
import { withApp } from "./session.ts"
import { UsageError } from "./usage.ts"
import { whyLines } from "./why-lines.ts"

interface WhyFlags {
  session?: string
  stdin?: boolean
}

export function addWhy(program: Command, run: Run): void {
  program
    .command("why [tool] [input...]")
    .description(
      "what would become of a call, and why, without making it; the exit code is 0 whatever the verdict, --json tells it; 1 when a line of --stdin is wrong",
    )
    .option("--session <id>", "the session the call would belong to")
    .option("--stdin", 'read one {"agent","tool","input"} a line, answer each with {"verdict","code","reasons"}')
    .action(run(why))
}

/** The verdict on a call that is not made, with every voice, its source, and what would change it. */
function why(session: Session, tool: string | undefined, words: readonly string[], flags: WhyFlags): Promise<number> {
  const { session: sessionId, stdin = false } = flags
  if (stdin !== (tool === undefined)) {
    throw new UsageError("Name a tool, for example 'qm why sleep duration=1', or give --stdin; one of them.")
  }
  if (tool === undefined) return whyLines(session, sessionId)
  return withApp(session, {}, async (app, loaded) => {
    const agentId = agentOf(session, loaded, app)
    await meetTool(app, agentId, tool)
    const input = words.length === 0 ? {} : readArguments(words, schemaOf(app, agentId, tool))
    const explanation = await app.why({ agentId, tool, input, sessionId })
    answer(session, explanation, whyText(explanation))
    return 0
  })
}

/** An explanation for a person. */
export function whyText(explanation: Explanation): string {
  const { agentId, tool, verdict, code, heard, touches, approvers, release, change, policy } = explanation
  const title = `${tool} for agent ${agentId}: ${verdict}${code === undefined ? "" : ` (${code})`}`
  const said = heard.map(({ says, shadow }) => (shadow === undefined ? says : `${shadow} (shadow)`))
  const margin = Math.max(0, ...said.map((word) => word.length))
  const voices = heard.flatMap(({ voice, source, sentence, binding }, place) => {
    const only = binding === true ? "; only a person lifts it" : ""
    return [
      `  ${said[place]?.padEnd(margin)}  ${oneLine(sentence)}`,
      `  ${" ".repeat(margin)}  ${voice}: ${oneLine(source)}${only}`,
    ]
  })
  const touched = touches.list.map(({ kind, what }) => `${kind} ${oneLine(what)}`)
  const agree = approvers.map(({ role, count }) => `${count} with role ${role ?? "any"}`)
  return [
    title,
    ...section("Every voice, in order:", voices),
    ...section(`It touches${touches.proved ? "" : ", as far as can be told"}:`, touched.map(indented)),
    ...section("Who must agree:", agree.map(indented)),
    ...section("The result:", release === "never" ? [] : [indented(`is held back for a person (${release})`)]),
    ...section(
      "What would change it:",
      change.map((sentence) => indented(oneLine(sentence))),
    ),
    `Policy ${policy}.`,
  ].join("\n")
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [title, ...lines]
}

function indented(line: string): string {
  return `  ${line}`
}

/** A sentence that quotes an agent's text must not pass for a line of ours. */
function oneLine(text: string): string {
  return text.replaceAll("\n", "\\n")
}
