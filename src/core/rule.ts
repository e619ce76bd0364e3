import type { Effect } from "./permission.ts"
import type { Touch } from "./touches.ts"

export const ruleVerdicts = ["allow", "ask", "deny"] as const
export type RuleVerdict = (typeof ruleVerdicts)[number]

export type ArgumentValue = string | number | boolean | null

/** A condition on one value of the input. All that is given must hold. Texts are patterns. */
export interface ArgumentCondition {
  /** The value is a number above this one. */
  above?: number
  below?: number
  oneOf?: readonly ArgumentValue[]
  not?: ArgumentValue | readonly ArgumentValue[]
}

/** The approvers required by a rule that asks: `count` people, each with the role. */
export interface Approvers {
  role?: string
  count: number
}

/**
 * One rule. It applies when every condition that is given holds; `because` is shown to people and models. In YAML:
 *
 * ```yaml
 * rules:
 *   - { deny: "http_*", role: intern, because: Interns work offline. }
 *   - { ask: write_file, touching: ["write:migrations/**"], because: Migrations are reviewed., approvers: { role: lead, count: 1 } }
 * ```
 */
export interface Rule {
  id: string
  verdict: RuleVerdict
  /** A tool's name or alias, `group:<id>`, or a glob over names. */
  tool: string
  /** Any of these roles. A role that an agent created does not count. */
  role?: readonly string[]
  department?: readonly string[]
  agent?: readonly string[]
  effect?: readonly Effect[]
  /** Any of these: `file:`, `read:`, `write:`, `command:`, `host:` or `database:` with a glob. */
  touching?: readonly string[]
  /** JSON pointer into the input → glob over the value's text, or a condition on the value. */
  args?: Readonly<Record<string, string | ArgumentCondition>>
  /** The rule does not apply when these cover everything the call touches. */
  except?: readonly string[]
  because: string
  approvers?: Approvers
  /** Minutes to wait for an answer, when that is less than the configured deadline. */
  deadline?: number
  /** For an ask: hold the result instead of the call, always or after an error. */
  release?: "always" | "on-error"
  /** Calls that the rule must match or miss. They are checked whenever the rules are loaded. */
  examples?: { match?: readonly RuleExample[]; miss?: readonly RuleExample[] }
  /** True: the rule decides nothing; the audit log notes what it would have decided. */
  shadow?: boolean
  /**
   * True: only tools of MCP servers that say that they only read. Set by `mcpServers.<name>.trustReadOnly`, never
   * written.
   */
  readOnlyHint?: boolean
  /** An ISO time with its zone. From then on the rule decides nothing. */
  expiresAt?: string
  /** The source: `quartermaster.yml rules[3]`, or `rule <id>` for one in the store. */
  source: string
}

/** Reports whether the rule decides nothing any more. */
export function isExpired({ expiresAt }: Pick<Rule, "expiresAt">, at: number): boolean {
  return expiresAt !== undefined && Date.parse(expiresAt) <= at
}

export interface RuleExample {
  agent?: string
  /** The tool that the example calls. Needed when the rule names several. */
  tool?: string
  input?: unknown
}

/** A flaw of a rule. A malformed rule is not in force; dead and shadowed ones are, but have no effect;
 * a doubtful one may not mean what it says. */
export interface RuleFlaw {
  kind: "malformed" | "dead" | "shadowed" | "example" | "doubtful"
  source: string
  sentence: string
}

export const grantScopes = ["input-session", "tool-session", "task", "minutes", "tool-always"] as const
export type GrantScope = (typeof grantScopes)[number]

/** The duration of the scope `minutes`, in minutes. */
export const grantMinutes = { least: 1, most: 480, usual: 30 } as const

/** A remembered answer for one agent and one tool, as the approver saw them. */
export interface Grant {
  id: string
  verdict: "allow" | "deny"
  scope: GrantScope
  agentId: string
  tool: string
  definitionHash: string
  workspace: string
  /** For the two session scopes. */
  sessionId?: string
  /** For the scope `task`. */
  taskId?: string
  /** For `input-session`: SHA-256 of the canonical input. */
  inputDigest?: string
  /** The touches of the approved call. The grant does not cover a call that touches more. */
  touches: readonly Touch[]
  by: string
  /** See `Giver`. A yes ends when its person is removed; a no does not. */
  since?: string | null
  createdAt: number
  expiresAt: number | null
  /** The meaning of the grant, as the approver read it. */
  words: string
  reason?: string
}

export function isForSession(scope: GrantScope): boolean {
  return scope === "input-session" || scope === "tool-session"
}
