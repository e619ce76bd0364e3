import type { CliCommand } from "../../common/cli-command.ts"
import type { Quartermaster } from "../../../../app/quartermaster.ts"
import { isExpired, type Rule } from "../../../../core/rule.ts"
import { withFilterOptions } from "../audit/audit-filter.ts"
import { confirm } from "../../common/confirm.ts"
import type { Run, CliContext } from "../../common/context.ts"
import { showList } from "../../common/listing.ts"
import { printResult, printMessage } from "../../common/output.ts"
import { parseRule, readRule, readRules } from "./rule-file.ts"
import { noRuleGiven, ruleExample, ruleFromFlags, withRuleOptions, type RuleFlags } from "./rule-flags.ts"
import { flawText, whenText } from "./rule-text.ts"
import { readStdin } from "../../common/read-stdin.ts"
import { waitForServers } from "../../common/wait-for-servers.ts"
import { isAttended, withApp, withPerson } from "../../common/open-app.ts"
import { simulateRules } from "./rules-simulate.ts"
import { suggestRules } from "./rules-suggest.ts"
import { CannotDo, orCannotDo, requireId, listCommand, UsageError } from "../../common/usage.ts"

export function addRules(program: CliCommand, run: Run): void {
  const rules = program
    .command("rules")

    .description("list, test, add and remove the rules that allow, ask or deny")
  listCommand(rules, "the rules in force").example("qm rules list").allowInTool().action(run(listRules))
  rules
    .command("test [file]")
    .example("qm rules test")
    .allowInTool()
    .description(
      "check the current rules, or those in a file, for mistakes and run their examples; exit 1 if one fails",
    )
    .action(run(testRules))
  withFilterOptions(
    rules
      .command("simulate")
      .example("qm rules simulate --rules new-rules.yml --since 7d")
      .allowInTool()
      .description("show which logged calls other rules would have decided differently"),
  )
    .requiredOption("--rules <file>", "YAML or JSON file with a list of rules, used instead of the configured ones")
    .option("--limit <count>", "how many calls to check")
    .action(run(simulateRules))
  withFilterOptions(
    rules
      .command("suggest")
      .example("qm rules suggest")
      .description("suggest rules for calls that people approved five times and never refused"),
  ).action(run(suggestRules))
  withRuleOptions(
    rules
      .command("add [rule]")
      .example(
        "qm rules add --allow web_fetch --because 'Pages are public.'",
        `qm rules add '{"allow":"web_fetch","because":"Pages are public."}'`,
      )
      .description(
        "add a rule, by options, as YAML or JSON, @file or - for stdin, for example '{ deny: set_env, because: It is frozen. }'",
      ),
  )
    .option("--yes", "add it even if it names a tool, role or agent that does not exist")
    .action(run(addRule))
  rules
    .command("remove <id>")
    .example("qm rules remove 01a1e1a9")
    .description("remove a rule added with 'qm rules add'; the first characters of its id are enough")
    .action(run(removeRule))
}

/** Lists the rules in order, then their flaws. */
function listRules(context: CliContext): Promise<number> {
  return withApp(context, { readOnly: true }, async ({ rules, mcp }, loaded) => {
    await waitForServers(context, { mcp })
    const flaws = loaded.trusted ? rules.flaws() : []
    const list = rules.list().map((rule) => ({
      ...rule,
      flaws: flaws.filter(({ source }) => source === rule.source),
    }))
    const strays = flaws.filter((flaw) => !list.some(({ source }) => source === flaw.source))
    if (context.flags.json) {
      printResult(context, { rules: list, flaws: strays }, "")
      return 0
    }
    await showList(
      context,
      list,
      [
        { title: "SOURCE", of: ({ source }) => source, paint: "dim" },
        { title: "VERDICT", of: verdictText, paint: "bold" },
        { title: "TOOL", of: ({ tool }) => tool },
        { title: "WHEN", of: whenText },
        { title: "BECAUSE", of: ({ because }) => because },
      ],
      "There is no rule yet: the permission level of each tool decides.",
    )
    for (const flaw of flaws) printMessage(context, flawText(flaw))
    return 0
  })
}

function verdictText(rule: Rule): string {
  const { verdict, shadow, release } = rule
  const what = release === undefined ? verdict : `hold result ${release === "always" ? "" : "on error"}`.trim()
  const notes = [...(shadow === true ? ["shadow"] : []), ...(isExpired(rule, Date.now()) ? ["expired"] : [])]
  return notes.length === 0 ? what : `${what} (${notes.join(", ")})`
}

/** No call is logged in the future, so only the rules themselves are checked. */
const noCalls = { since: Number.MAX_SAFE_INTEGER }

async function testRules(context: CliContext, file: string | undefined): Promise<number> {
  const given = file === undefined ? undefined : await readRules(context, file)
  const { trusted, configFile } = await context.runtime.loadConfig(context.flags)
  if (!trusted) return notTrustedYet(context, configFile)
  return withApp(context, { readOnly: true }, async ({ rules, mcp }) => {
    await waitForServers(context, { mcp })
    const flaws = given === undefined ? rules.flaws() : (await orCannotDo(rules.simulate(given, noCalls))).flaws
    const count = given?.length ?? rules.list().length
    const ok = flaws.length === 0
    const verdict = `${count} ${count === 1 ? "rule" : "rules"}, no mistakes, and every example passes.`
    if (context.flags.json) printResult(context, { ok, rules: count, flaws }, "")
    else if (ok) printResult(context, undefined, verdict)
    else for (const flaw of flaws) printMessage(context, flawText(flaw))
    return ok ? 0 : 1
  })
}

/** Without the ignored part of the file, rules look wrong that are not. */
function notTrustedYet(context: CliContext, file = "The configuration"): number {
  const sentence = `${file} is not trusted yet, so its rules are not tested here. 'qm check' tests them as they are written; 'qm trust' lets them count.`
  if (context.flags.json) printResult(context, { ok: false, trusted: false, file }, "")
  printMessage(context, sentence)
  return 1
}

async function addRule(
  context: CliContext,
  text: string | undefined,
  { yes = false, ...flags }: RuleFlags & { yes?: boolean },
): Promise<number> {
  const given = await givenRule(context, text, flags)
  refusePlaceholder(given)
  return withPerson(context, async ({ rules, mcp }, by) => {
    if (!yes && !(await mayNameNothing(context, { rules, mcp }, given))) {
      printMessage(context, "Nothing was added.")
      return 4
    }
    const rule = await orWrongRule(rules.add(given, by.id))
    printResult(context, rule, `Added ${rule.source}: ${rule.verdict} ${rule.tool}, because ${rule.because}`)
    for (const flaw of rules.flaws().filter(({ source, kind }) => source === rule.source && kind !== "dead"))
      printMessage(context, flawText(flaw))
    return 0
  })
}

/** A rule that was given wrongly is wrong usage. */
async function orWrongRule<T>(work: Promise<T>): Promise<T> {
  try {
    return await orCannotDo(work)
  } catch (error) {
    throw error instanceof CannotDo ? new UsageError(error.message) : error
  }
}

/** A rule that names something unknown is shown, and added only if the person agrees: it would decide nothing. */
async function mayNameNothing(
  context: CliContext,
  app: Pick<Quartermaster, "rules" | "mcp">,
  given: unknown,
): Promise<boolean> {
  const find = async () => {
    const { flaws } = await orWrongRule(app.rules.simulate([given], noCalls))
    return flaws.filter(({ kind }) => kind === "dead")
  }
  if ((await find()).length === 0) return true
  await waitForServers(context, app)
  const dead = (await find()).map(({ sentence }) => sentence)
  if (dead.length === 0) return true
  if (!isAttended(context.io))
    throw new UsageError(`${dead.join(" ")} Nothing was added. Correct the rule, or add --yes to add it as it is.`)
  printMessage(context, `${dead.join(" ")} As it is, the rule decides nothing.`)
  return confirm(context, "Add it as it is?", false)
}

/** `qm rules suggest` writes `<why>` where a person has to say why. */
function refusePlaceholder(rule: unknown): void {
  const because = typeof rule === "object" && rule !== null && "because" in rule ? rule.because : undefined
  if (typeof because !== "string" || !/^<[^<>]*>$/.test(because.trim())) return
  throw new UsageError(`Say why in 'because': '${because}' is only its placeholder, and people and models read it.`)
}

async function givenRule(context: CliContext, text: string | undefined, flags: RuleFlags): Promise<unknown> {
  const byFlags = ruleFromFlags(context, flags, Date.now())
  if (text === undefined && byFlags === undefined) throw noRuleGiven()
  if (text === undefined) return byFlags
  if (byFlags !== undefined) throw new UsageError("The rule is given twice: by options and as text. Use one of them.")
  if (!text.startsWith("@")) return parseRule(text === "-" ? await readStdin(context.io.stdin) : text, ruleExample)
  const read = await readRule(context, text.slice(1))
  return Array.isArray(read) && read.length === 1 ? (read[0] as unknown) : read
}

function removeRule(context: CliContext, given: string): Promise<number> {
  const id = requireId(given)
  return withPerson(context, async ({ rules }, by) => {
    const removed = await orCannotDo(rules.remove(id, by.id))
    if (removed === undefined) throw notRemoved(id, rules.list())
    printResult(context, removed, `Removed ${removed.source}: ${removed.verdict} ${removed.tool}.`)
    return 0
  })
}

function notRemoved(id: string, rules: readonly Rule[]): CannotDo {
  const written = rules.find((rule) => rule.id === id)
  if (written === undefined)
    return new CannotDo(
      "rule_not_found",
      `No rule was added with the id '${id}', or several ids begin with it. 'qm rules list' shows them.`,
    )
  const where =
    written.source === "built in"
      ? "is built in and cannot be removed"
      : `is written in ${written.source}. Change it there`
  return new CannotDo("read_only", `The rule '${id}' ${where}.`)
}
