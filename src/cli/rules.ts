import type { Command } from "commander"
import { resolve } from "node:path"
import type { Rule } from "../model/rule.ts"
import { readJson } from "./arguments.ts"
import { filtered } from "./audit-filter.ts"
import type { Run, Session } from "./house.ts"
import { showList } from "./listing.ts"
import { answer, say } from "./output.ts"
import { readRules } from "./rule-file.ts"
import { flawText, whenText } from "./rule-text.ts"
import { meetServers } from "./servers.ts"
import { withApp, withPerson } from "./session.ts"
import { simulate } from "./simulate.ts"
import { CannotDo, expected, idOf, listCommand } from "./usage.ts"

export function addRules(program: Command, run: Run): void {
  const rules = program.command("rules").description("the rules that allow, ask or deny")
  listCommand(rules).action(run(listRules))
  rules
    .command("test [file]")
    .description("try the examples of the rules that count, or of those in a file, and look for flaws; exit 1 on any")
    .action(run(testRules))
  filtered(rules.command("simulate").description("which recorded calls other rules would have decided otherwise"))
    .requiredOption("--rules <file>", "a YAML or JSON list of rules, taken in place of the configured ones")
    .option("--limit <count>", "look at no more than this many calls")
    .action(run(simulate))
  rules
    .command("add <rule>")
    .description('keep a rule, as JSON or @file, such as \'{"deny":"set_env","because":"It is frozen."}\'')
    .action(run(addRule))
  rules.command("remove <id>").description("remove a rule that was added").action(run(removeRule))
}

/** The rules in the order they are written, and below them what is wrong with any. */
function listRules(session: Session): Promise<number> {
  return withApp(session, {}, async ({ rules, mcp }) => {
    await meetServers({ mcp })
    const flaws = rules.flaws()
    const list = rules.list().map((rule) => ({
      ...rule,
      flaws: flaws.filter(({ source }) => source === rule.source),
    }))
    const strays = flaws.filter((flaw) => !list.some(({ source }) => source === flaw.source))
    if (session.flags.json) {
      answer(session, { rules: list, flaws: strays }, "")
      return 0
    }
    await showList(
      session,
      list,
      [
        { title: "SOURCE", of: ({ source }) => source, paint: "dim" },
        { title: "SAYS", of: saysText, paint: "bold" },
        { title: "TOOL", of: ({ tool }) => tool },
        { title: "WHEN", of: whenText },
        { title: "BECAUSE", of: ({ because }) => because },
      ],
      "There is no rule: the level of each tool decides.",
    )
    for (const flaw of flaws) say(session, flawText(flaw))
    return 0
  })
}

function saysText({ verdict, shadow, release }: Rule): string {
  const what = release === undefined ? verdict : `hold result ${release === "always" ? "" : "on error"}`.trim()
  return shadow === true ? `${what} (shadow)` : what
}

async function testRules(session: Session, file: string | undefined): Promise<number> {
  const given = file === undefined ? undefined : await readRules(session, file)
  return withApp(session, {}, async ({ rules, mcp }) => {
    await meetServers({ mcp })
    // Nothing was recorded in the future, so that only the rules themselves are looked at.
    const future = { since: Number.MAX_SAFE_INTEGER }
    const flaws = given === undefined ? rules.flaws() : (await expected(rules.simulate(given, future))).flaws
    const count = given?.length ?? rules.list().length
    const ok = flaws.length === 0
    const verdict = `${count} ${count === 1 ? "rule" : "rules"}, no flaw, and every example holds.`
    if (session.flags.json) answer(session, { ok, rules: count, flaws }, "")
    else if (ok) answer(session, undefined, verdict)
    else for (const flaw of flaws) say(session, flawText(flaw))
    return ok ? 0 : 1
  })
}

function addRule(session: Session, text: string): Promise<number> {
  return withPerson(session, async ({ rules }, by) => {
    const { house, io } = session
    const given = text.startsWith("@")
      ? await house.readDataFile(resolve(io.cwd, text.slice(1)))
      : readJson(text, "The rule is")
    const rule = await expected(rules.add(given, by.id))
    answer(session, rule, `Added ${rule.source}: ${rule.verdict} ${rule.tool}, because ${rule.because}`)
    for (const flaw of rules.flaws().filter(({ source }) => source === rule.source)) say(session, flawText(flaw))
    return 0
  })
}

function removeRule(session: Session, given: string): Promise<number> {
  const id = idOf(given)
  return withPerson(session, async ({ rules }, by) => {
    const removed = await expected(rules.remove(id, by.id))
    if (removed === undefined) throw notRemoved(id, rules.list())
    answer(session, removed, `Removed ${removed.source}: ${removed.verdict} ${removed.tool}.`)
    return 0
  })
}

function notRemoved(id: string, rules: readonly Rule[]): CannotDo {
  const written = rules.find((rule) => rule.id === id)
  if (written === undefined)
    return new CannotDo(
      "rule_not_found",
      `No rule was added with the id '${id}', or several begin like that. 'qm rules list' shows them.`,
    )
  const where =
    written.source === "built in" ? "is built in and stays" : `is written in ${written.source}. Change it there`
  return new CannotDo("read_only", `The rule '${id}' ${where}.`)
}
