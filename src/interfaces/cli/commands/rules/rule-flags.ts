import type { CliCommand } from "../../common/cli-command.ts"
import type { CliContext } from "../../common/context.ts"
import { parseTimeAhead } from "../../common/time-text.ts"
import { commaList, numberFlag, repeated, UsageError } from "../../common/usage.ts"

/** The fields of a rule as options. `--agent` is an option of every command. */
export interface RuleFlags {
  allow?: string
  ask?: string
  deny?: string
  because?: string
  role?: string
  department?: string
  effect?: string
  touching?: string[]
  except?: string[]
  arg?: string[]
  expires?: string
  approvers?: string
  deadline?: string
  release?: string
  shadow?: boolean
}

/** Adds the options that write a rule. */
export function withRuleOptions(command: CliCommand): CliCommand {
  return command
    .option("--allow <tool>", "let a tool run unasked: its name, group:<id>, or a pattern such as http_*")
    .option("--ask <tool>", "ask a person about it")
    .option("--deny <tool>", "never let it run")
    .option("--because <text>", "why; people and models read it")
    .option("--role <names>", "only for these roles, separated by commas")
    .option("--department <ids>", "only for these departments")
    .option("--effect <effects>", "only for tools with these effects, for example write,network")
    .option("--touching <pattern>", "what the call touches, for example 'write:docs/**'; can be repeated", repeated)
    .option("--except <pattern>", "what it may touch without the rule applying; can be repeated", repeated)
    .option(
      "--arg <pointer=pattern>",
      "a value of the input, for example '/path=docs/*' or '/amount={\"above\":100}'; can be repeated",
      repeated,
    )
    .option("--expires <when>", "when the rule ends: in 2h or 30d, or at a date such as 2026-12-31T18:00Z")
    .option("--approvers <count:role>", "for --ask: how many people must approve and their role, for example 2:lead")
    .option("--deadline <minutes>", "for --ask: how long to wait for an answer")
    .option("--release <when>", "for --ask: hold the result instead of the call: always, on-error")
    .option("--shadow", "decide nothing; only log what the rule would have decided")
}

/** The rule that the options write; undefined when none of them is given. */
export function ruleFromFlags({ flags: { agent } }: CliContext, flags: RuleFlags, now: number): object | undefined {
  if (Object.keys(flags).length === 0) return undefined
  const { role, department, effect, arg, expires, approvers, deadline, ...plain } = flags
  if ([flags.allow, flags.ask, flags.deny].every((tool) => tool === undefined))
    throw new UsageError(
      `The rule says about no tool what to do. Begin with one of --allow, --ask and --deny. ${ruleExample}`,
    )
  if (flags.because === undefined)
    throw new UsageError(`--because is missing: people and models read why. ${ruleExample}`)
  const given = {
    ...plain,
    agent: commaList(agent),
    role: commaList(role),
    department: commaList(department),
    effect: commaList(effect),
    args: arg && Object.fromEntries(arg.map(readArgument)),
    approvers: approvers === undefined ? undefined : readApprovers(approvers),
    deadline: numberFlag("--deadline", deadline),
    expiresAt: expires === undefined ? undefined : new Date(parseTimeAhead(expires, now, "--expires")).toISOString(),
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

export const ruleExample = `For example: qm rules add --allow write_file --touching 'write:docs/**' --because "Everybody may write documentation."`

export function noRuleGiven(): UsageError {
  return new UsageError(`Give the rule as options, as YAML or JSON, as @file or as - from stdin. ${ruleExample}`)
}

/** `{"above":100}` is a condition; any other text is a pattern, also one for a value that is an object. */
function conditionIn(text: string): unknown {
  if (!/^\{\s*"(?:above|below|oneOf|not)"\s*:/.test(text)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function readArgument(text: string): [string, unknown] {
  const at = text.indexOf("=")
  if (at === -1)
    throw new UsageError(`--arg takes pointer=pattern, for example '/path=docs/*', and '${text}' is not that.`)
  return [text.slice(0, at), conditionIn(text.slice(at + 1))]
}

function readApprovers(text: string): { count?: number; role?: string } {
  const [, count, role] = /^(?:(\d{1,4})(?::|$))?(.*)$/s.exec(text) ?? []
  return {
    ...(count === undefined ? {} : { count: Number(count) }),
    ...(role === undefined || role === "" ? {} : { role }),
  }
}
