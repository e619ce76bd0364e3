import type { Effect } from "./permission.ts"

export const ruleVerdicts = ["allow", "ask", "deny"] as const
export type RuleVerdict = (typeof ruleVerdicts)[number]

/** Who must agree when a rule asks: that many people, each with that role. */
export interface Approvers {
  role?: string | undefined
  count: number
}

/** One line of policy. Every condition that is given must hold; `because` is what people and models are told. */
export interface Rule {
  id: string
  verdict: RuleVerdict
  /** A tool's name or alias, `group:<id>`, or a glob over names. */
  tool: string
  /** Roles made by a person or the configuration; any of them. */
  role?: readonly string[] | undefined
  department?: readonly string[] | undefined
  agent?: readonly string[] | undefined
  effect?: readonly Effect[] | undefined
  /** `file:`, `read:`, `write:`, `command:` or `host:` with a glob; any of them. */
  touching?: readonly string[] | undefined
  /** JSON pointer into the input → glob over the value's text. */
  args?: Readonly<Record<string, string>> | undefined
  /** Does not hold when every touch is covered by one of these. */
  except?: readonly string[] | undefined
  because: string
  approvers?: Approvers | undefined
  /** Minutes the question waits, where that is less than the configured deadline. */
  deadline?: number | undefined
  /** For an ask: it is the result that is held, and when. */
  release?: "always" | "on-error" | undefined
  examples?: { match?: readonly RuleExample[] | undefined; miss?: readonly RuleExample[] | undefined } | undefined
  /** Only writes down what it would have done. */
  shadow?: boolean | undefined
  /** Where it stands: `quartermaster.yml rules[3]`, or `rule <id>` in the store. */
  source: string
}

export interface RuleExample {
  agent?: string | undefined
  /** The tool the example calls; needed where the rule names several. */
  tool?: string | undefined
  input?: unknown
}

/** A flaw of a rule: malformed ones do not count, dead and shadowed ones do. */
export interface RuleFlaw {
  kind: "malformed" | "dead" | "shadowed" | "example"
  source: string
  sentence: string
}

/** Something outside a call that its run will use. */
export interface Touch {
  kind: "read" | "write" | "command" | "host"
  /** A path; a whole script or one segment of it; an address or a host name. */
  what: string
  /** For a command: the folder it runs in, the variables it is given, and whether it may reach the network. */
  cwd?: string | undefined
  environment?: Readonly<Record<string, string>> | undefined
  network?: boolean | undefined
  /** A file that a command names: what denies or asks looks at it; what allows the command need not name it. */
  derived?: boolean | undefined
  /** For a path: the file itself is opened, so it must be a plain one, and one that is written have no other name. */
  opens?: boolean | undefined
  /** For a host: its address stands in the configuration, so it may be private. Only a tool's own code says so. */
  configured?: boolean | undefined
}

/** What a call touches, and whether that is all of it for certain. */
export interface Touches {
  list: readonly Touch[]
  proved: boolean
}

export const grantScopes = ["input-session", "tool-session", "tool-always"] as const
export type GrantScope = (typeof grantScopes)[number]

/** A remembered answer: an allow, or a no, for one agent and tool as they were shown. */
export interface Grant {
  id: string
  verdict: "allow" | "deny"
  scope: GrantScope
  agentId: string
  tool: string
  definitionHash: string
  workspace: string
  /** For the two session scopes. */
  sessionId?: string | undefined
  /** For `input-session`: SHA-256 of the canonical input. */
  inputDigest?: string | undefined
  /** What the card showed the call to touch; a later call may touch no more. */
  touches: readonly Touch[]
  by: string
  createdAt: number
  expiresAt: number | null
  /** What it means, in words, as it was shown before the yes. */
  words: string
  reason?: string | undefined
}
