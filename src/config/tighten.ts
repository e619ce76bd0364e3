import { isObject } from "../lib/is-object.ts"
import { pathText, valueAtPath } from "../schema/problems.ts"
import { canonicalJson } from "../lib/canonical-json.ts"
import { defaults } from "./schema.ts"

/** The settings an untrusted file may use: each key with the values that can only make Quartermaster stricter. */
const tightening: Readonly<Record<string, (value: unknown) => boolean>> = {
  "data.durability": () => true,
  // These decide nothing.
  language: () => true,
  "tools.askIntent": () => true,
  "tools.enabled": () => true,
  "tools.timeout": atMost(defaults.tools.timeout),
  "tools.maxConcurrent": atMost(defaults.tools.maxConcurrent),
  "agents.maxConcurrentTools": atMost(defaults.agents.maxConcurrentTools),
  "agents.maxRounds": atMost(defaults.agents.maxRounds),
  "agents.maxCalls": atMost(defaults.agents.maxCalls),
  "agents.maxAgents": atMost(defaults.agents.maxAgents),
  "agents.maxDepth": atMost(defaults.agents.maxDepth),
  "agents.deadline": atMost(defaults.agents.deadline),
  // A smaller value could remove conversations that a person still wants to read.
  "agents.keepDays": (days) => days === defaults.agents.keepDays,
  "approvals.deadline": atMost(defaults.approvals.deadline),
  "approvals.unattended": () => true,
  "approvals.inClient": (where) => where === "none" || where === defaults.approvals.inClient,
  "approvals.maxWaiting": atMost(defaults.approvals.maxWaiting),
  "hooks.askInClient": isFalse,
  "telemetry.enabled": isFalse,
  "telemetry.content": isFalse,
  "server.host": (host) => host === defaults.server.host,
  "server.port": (port) => port === defaults.server.port,
  "server.maxBodyBytes": atMost(defaults.server.maxBodyBytes),
  "tools.maxFileSize": atMost(defaults.tools.maxFileSize),
  "tools.allowedExtensions": () => true,
  "tools.protectedPaths": () => true,
  "tools.shell.mode": (mode) => mode === "allowlist" || mode === "ask",
  "tools.shell.deny": () => true,
  "tools.shell.sandbox": (sandbox) => sandbox === "required" || sandbox === "auto",
  "tools.shell.limits.memoryMb": atMost(defaults.tools.shell.limits.memoryMb),
  "tools.shell.limits.fileMb": atMost(defaults.tools.shell.limits.fileMb),
  "tools.shell.limits.processes": atMost(defaults.tools.shell.limits.processes),
  "tools.shell.limits.tmpMb": atMost(defaults.tools.shell.limits.tmpMb),
  // Smaller values could remove files that a person still wants to restore.
  "tools.trash.days": (days) => days === defaults.tools.trash.days,
  "tools.trash.maxMb": (most) => most === defaults.tools.trash.maxMb,
  "tools.hosts.deny": () => true,
  "tools.permissions.*.level": (level) => level === "sensitive",
  "tools.permissions.*.requireExecutionApproval": isTrue,
  "tools.permissions.*.requireResultApproval": (when) => when !== "never" && when !== false,
  "tools.permissions.*.dangerous": isTrue,
  "tools.permissions.*.requireConfirmation": isTrue,
  "tools.permissions.*.allowedRoles": namesSomeone,
  "tools.permissions.*.allowedDepartments": namesSomeone,
  "tools.permissions.*.minLevel": () => true,
  "tools.permissions.*.rateLimit.maxCallsPerMinute": () => true,
  "tools.permissions.*.rateLimit.maxCallsPerHour": () => true,
  // Allow rules are removed one by one.
  rules: () => true,
}

export interface FilteredConfig {
  value: unknown
  /** The keys that were left out. */
  ignored: string[]
}

/** Leaves out every field that uses a variable, completely: part of a list could allow more than the whole list. */
export function withoutVariables(value: unknown): FilteredConfig {
  return keepWhere(value, (_, part) => !readsVariable(part))
}

/** Leaves out every field of a valid configuration that could allow more. */
export function onlyTightening(value: unknown): FilteredConfig {
  return withoutAllowRules(keepWhere(value, (field, part) => tightening[field]?.(part) ?? false))
}

/** Removes the allow rules, which could allow more. */
function withoutAllowRules({ value, ignored }: FilteredConfig): FilteredConfig {
  if (!isObject(value) || !Array.isArray(value["rules"])) return { value, ignored }
  const { rules, ...rest } = value
  const allows = (rules as unknown[]).map((rule) => isObject(rule) && rule["allow"] !== undefined)
  const kept = (rules as unknown[]).filter((_, index) => !allows[index])
  return {
    value: kept.length === 0 ? rest : { ...rest, rules: kept },
    ignored: [...ignored, ...allows.flatMap((allow, index) => (allow ? [pathText(["rules", index])] : []))],
  }
}

function keepWhere(value: unknown, keep: (field: string, part: unknown) => boolean): FilteredConfig {
  const ignored: string[] = []
  const filter = (section: Record<string, unknown>, path: readonly string[]): unknown =>
    Object.fromEntries(
      Object.entries(section).flatMap(([key, part]): [string, unknown][] => {
        const here = [...path, key]
        const field = fieldName(here)
        if (isObject(part) && isSection(field)) return [[key, filter(part, here)]]
        if (keep(field, part)) return [[key, part]]
        // An empty section has no effect, so it needs no warning.
        // Nor does one that says what holds anyway; it is left out all the same, as a file before it may say otherwise.
        const isDefault = canonicalJson(part) === canonicalJson(valueAtPath(defaults, here))
        if (!isDefault && (!isObject(part) || Object.keys(part).length > 0)) ignored.push(pathText(here))
        return []
      }),
    )
  return { value: isObject(value) ? filter(value, []) : value, ignored }
}

function fieldName([first, second, third, ...rest]: readonly string[]): string {
  const tool = first === "tools" && second === "permissions" && third !== undefined ? "*" : third
  return [first, second, tool, ...rest].filter((step) => step !== undefined).join(".")
}

function isSection(field: string): boolean {
  return Object.keys(tightening).some((known) => known.startsWith(`${field}.`))
}

function readsVariable(value: unknown): boolean {
  if (typeof value === "string") return value.includes("${")
  return typeof value === "object" && value !== null && Object.values(value).some(readsVariable)
}

function atMost(limit: number) {
  return (value: unknown) => typeof value === "number" && value <= limit
}

function isFalse(value: unknown): boolean {
  return value === false
}

function isTrue(value: unknown): boolean {
  return value === true
}

function namesSomeone(list: unknown): boolean {
  return Array.isArray(list) && list.length > 0
}
