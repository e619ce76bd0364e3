import { setFlagsFromString } from "node:v8"
import type { CliCommand } from "../../common/cli-command.ts"
import type { Explanation } from "../../../../policy/explanation.ts"
import { readInput, readPiped } from "./call.ts"
import { missingToolSentences } from "./dead-server.ts"
import { callingAgent } from "../../common/calling-agent.ts"
import type { Run, CliContext } from "../../common/context.ts"
import { printMessage, printResult } from "../../common/output.ts"
import { waitForTool } from "../../common/wait-for-servers.ts"
import { withApp } from "../../common/open-app.ts"
import { UsageError } from "../../common/usage.ts"
import { whyLines } from "./why-stdin.ts"

interface WhyFlags {
  session?: string
  all?: boolean
  stdin?: boolean
}

export function addWhy(program: CliCommand, run: Run): void {
  program
    .command("why [tool] [input...]")
    .example("qm why write_file path=notes.md content=hello --agent dev")
    .allowInTool()
    .description(
      "whether a call would be allowed, and why, without making it; the exit code is 0 whatever the verdict, --json has it; 1 when a line of --stdin is wrong",
    )
    .option("--session <id>", "the session the call would belong to")
    .option("--all", "also show the checks that passed")
    .option("--stdin", 'read one {"agent","tool","input"} a line, answer each with {"verdict","code","reasons"}')
    .action(run(why))
}

/** Prints the verdict on a call that is not made, the checks that decided it, and what would change it. */
async function why(
  session: CliContext,
  tool: string | undefined,
  words: readonly string[],
  flags: WhyFlags,
): Promise<number> {
  const { session: sessionId, stdin = false, all = false } = flags
  if (stdin !== (tool === undefined)) {
    throw new UsageError("Name a tool, for example 'qm why sleep duration=1', or give --stdin; one of them.")
  }
  if (tool === undefined) return whyLines(session, sessionId)
  // Or V8 compiles hot functions of the shell's grammar once more, for speed, and the exit waits for that (0.3 s).
  setFlagsFromString("--wasm-tiering-budget=1000000000")
  const isPiped = words.length === 1 && words[0] === "-"
  const piped = isPiped ? await readPiped(session.io.stdin) : undefined
  return withApp(session, { readOnly: true }, async (app, loaded) => {
    const agentId = callingAgent(session, loaded, app)
    await waitForTool(session, app, agentId, tool)
    const input = isPiped ? piped : readInput(words, app, agentId, tool)
    const explanation = await app.why({ agentId, tool, input, sessionId })
    printResult(session, explanation, whyText(explanation, all))
    if (explanation.code === "unknown_tool")
      for (const sentence of missingToolSentences(app, tool)) printMessage(session, sentence)
    return 0
  })
}

/** An explanation for a person. Checks that passed are shown only with `all`. */
export function whyText(explanation: Explanation, all = false): string {
  const { checks, touches, approvers, release, change, policy } = explanation
  const shown = checks.filter(({ verdict, shadow }) => all || verdict !== "pass" || shadow !== undefined)
  const passed = checks.length - shown.length
  const margin = Math.max(0, ...shown.map((check) => verdictText(check).length))
  const lines = shown.map((check) => `${verdictText(check).padEnd(margin)}  ${checkText(check)}`)
  const more = passed === 0 ? [] : [`${passed} other ${passed === 1 ? "check" : "checks"} passed; --all shows them.`]
  const touched = touches.list.map(({ kind, what }) => `${kind} ${oneLine(what)}`)
  const people = approvers.map(({ role, count }) => `${count} with role ${role ?? "any"}`)
  return [
    verdictSentence(explanation),
    ...section("Checks, in order:", [...lines, ...more]),
    ...(touches.unknown === true ? ["", "Touches unknown: the tool does not say which files and hosts it uses."] : []),
    ...section(touches.proved ? "It touches:" : "It touches, as far as is known:", touched),
    ...section("Who must approve:", people),
    ...section("The result:", release === "never" ? [] : [`is held for a person (${release})`]),
    ...section("To change this:", change.map(oneLine)),
    "",
    `Policy version ${policy}.`,
  ].join("\n")
}

function verdictSentence({ agentId, tool, verdict, code, reasons }: Explanation): string {
  const [agent, name] = [oneLine(agentId), oneLine(tool)]
  if (code === "unknown_tool") return `There is no tool ${name} for agent ${agent} (${code}).`
  if (verdict === "deny") return `Agent ${agent} may not call ${name} (${code}).`
  if (verdict === "allow") return `Agent ${agent} may call ${name}; it runs without asking.`
  return reasons[0]?.code === "question"
    ? `Agent ${agent} may call ${name}; it waits for a person's answer.`
    : `Agent ${agent} may call ${name} after a person has approved it.`
}

type CheckResult = Explanation["checks"][number]

function verdictText({ verdict, shadow }: CheckResult): string {
  return shadow === undefined ? verdict : `${shadow} (shadow)`
}

function checkText({ check, source, sentence, binding }: CheckResult): string {
  const only = binding === true ? "; only a person can approve it" : ""
  return `${oneLine(sentence)} (${check}: ${oneLine(source)}${only})`
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ["", title, ...lines.map(indented)]
}

function indented(line: string): string {
  return `  ${line}`
}

/** A sentence that quotes an agent's text must not pass for a line of ours. */
function oneLine(text: string): string {
  return text.replaceAll("\n", "\\n")
}
