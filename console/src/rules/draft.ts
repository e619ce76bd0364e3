import type { WholeRuleJson } from "../../../src/interfaces/http/routes/rules-page-schemas.ts"
import type { WrittenRule } from "./queries.ts"

/** A condition on one parameter of the input. */
export interface ArgDraft {
  readonly name: string
  readonly how: "is" | "not" | "above" | "below" | "oneOf"
  readonly value: string
}

/** A rule in the fields of the editor. Lists are texts with commas, as they are typed. */
export interface Draft {
  readonly verdict: "allow" | "ask" | "deny"
  readonly tool: string
  readonly agent: string
  readonly role: string
  readonly touching: string
  /** The `host:` entries of `touching`, without that word. */
  readonly hosts: string
  readonly except: string
  readonly args: readonly ArgDraft[]
  readonly count: string
  readonly approverRole: string
  readonly release: "" | "always" | "on-error"
  readonly expiresAt: string
  readonly because: string
  readonly shadow: boolean
  /** The part without a field in the editor. It stays as it is. */
  readonly rest: WrittenRule
}

export const emptyDraft: Draft = {
  verdict: "allow",
  tool: "",
  agent: "",
  role: "",
  touching: "",
  hosts: "",
  except: "",
  args: [],
  count: "",
  approverRole: "",
  release: "",
  expiresAt: "",
  because: "",
  shadow: false,
  rest: {},
}

const hostKind = "host:"

/** The entries of a field: a list with commas. */
export const listOf = (text: string) =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")
const textOf = (value: unknown): string =>
  Array.isArray(value) ? value.join(", ") : typeof value === "string" ? value : ""

/** The rule that the fields say. Empty fields are left out. */
export function ruleOf(draft: Draft): WrittenRule {
  const { verdict, tool, because, args, count, approverRole, release, expiresAt, shadow, rest } = draft
  const written = {
    agent: listOf(draft.agent),
    role: listOf(draft.role),
    touching: [...listOf(draft.touching), ...listOf(draft.hosts).map((host) => `${hostKind}${host}`)],
    except: listOf(draft.except),
  }
  const lists = Object.entries(written).flatMap(([name, list]) => {
    return list.length === 0 ? [] : [[name, list.length === 1 ? list[0] : list] as const]
  })
  const named = args.filter(({ name, value }) => name.trim() !== "" && value.trim() !== "")
  const tools = listOf(tool)
  return {
    [verdict]: tools.length > 1 ? tools : (tools[0] ?? "*"),
    ...Object.fromEntries(lists),
    ...(named.length === 0 ? {} : { args: conditionsOf(named) }),
    ...(verdict === "ask" && release === "" && (count !== "" || approverRole !== "")
      ? {
          approvers: {
            count: Number(count === "" ? 1 : count),
            ...(approverRole === "" ? {} : { role: approverRole }),
          },
        }
      : {}),
    ...(verdict === "ask" && release !== "" ? { release } : {}),
    ...(expiresAt === "" ? {} : { expiresAt }),
    ...(shadow ? { shadow: true } : {}),
    ...rest,
    ...(because.trim() === "" ? {} : { because: because.trim() }),
  }
}

/** The conditions by parameter. Several on one parameter must all hold. */
function conditionsOf(args: readonly ArgDraft[]): Record<string, unknown> {
  const byName: Record<string, unknown> = {}
  for (const { name, how, value } of args) {
    const pointer = name.trim().startsWith("/") ? name.trim() : `/${name.trim()}`
    if (how === "is") byName[pointer] = value
    else byName[pointer] = { ...(byName[pointer] as object | undefined), [how]: operandOf(how, value) }
  }
  return byName
}

function operandOf(how: Exclude<ArgDraft["how"], "is">, value: string): unknown {
  if (how === "above" || how === "below") return Number(value)
  const list = listOf(value).map((each) => (String(Number(each)) === each ? Number(each) : each))
  return how === "not" && list.length === 1 ? list[0] : list
}

const inFields = new Set(
  "allow ask deny agent role touching except args approvers release expiresAt because shadow".split(" "),
)

/** The fields of a rule as it is written: a stored one, or a suggestion. */
export function draftOf(rule: WrittenRule): Draft {
  const verdict = (["allow", "ask", "deny"] as const).find((name) => rule[name] !== undefined) ?? "allow"
  const approvers = (rule["approvers"] ?? {}) as { count?: number; role?: string }
  const rest = Object.fromEntries(Object.entries(rule).filter(([name]) => !inFields.has(name)))
  const touches = listOf(textOf(rule["touching"]))
  const isHost = (touch: string) => touch.startsWith(hostKind)
  return {
    verdict,
    tool: textOf(rule[verdict]),
    agent: textOf(rule["agent"]),
    role: textOf(rule["role"]),
    touching: touches.filter((touch) => !isHost(touch)).join(", "),
    hosts: touches
      .filter(isHost)
      .map((host) => host.slice(hostKind.length))
      .join(", "),
    except: textOf(rule["except"]),
    args: Object.entries((rule["args"] ?? {}) as Record<string, unknown>).flatMap(([name, condition]) =>
      argsOf(name, condition),
    ),
    count: approvers.count === undefined ? "" : String(approvers.count),
    approverRole: approvers.role ?? "",
    release: rule["release"] === "always" || rule["release"] === "on-error" ? rule["release"] : "",
    expiresAt: textOf(rule["expiresAt"]),
    because: textOf(rule["because"]),
    shadow: rule["shadow"] === true,
    rest,
  }
}

function argsOf(name: string, condition: unknown): ArgDraft[] {
  if (typeof condition !== "object" || condition === null || Array.isArray(condition))
    return [{ name, how: "is", value: textOf(condition) || String(condition) }]
  return Object.entries(condition).map(([how, value]) => ({
    name,
    how: how as ArgDraft["how"],
    value: Array.isArray(value) ? value.join(", ") : String(value),
  }))
}

/** The fields of a rule of the list, to change it. */
export function draftOfShown(rule: WholeRuleJson): Draft {
  const { verdict, tool, agent, role, touching, except, args, approvers, release, expiresAt, because, shadow } = rule
  const more = { department: rule.department, effect: rule.effect, deadline: rule.deadline }
  const rest = Object.fromEntries(Object.entries(more).filter(([, value]) => value !== undefined))
  return {
    ...draftOf({
      [verdict]: tool,
      agent,
      role,
      touching,
      except,
      args,
      approvers,
      release,
      expiresAt,
      because,
      shadow,
    }),
    rest,
  }
}
