import fc from "fast-check"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { onTestFinished } from "vitest"
import { ConfigError } from "./config-error.ts"

/** A working folder and a home folder that live as long as the test. */
export function makeFolders() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "quartermaster-config-")))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const cwd = join(root, "work")
  const home = join(root, "home")
  mkdirSync(cwd)
  mkdirSync(home)
  const write = (file: string, text: string): string => {
    const full = join(cwd, file)
    mkdirSync(dirname(full), { recursive: true })
    writeFileSync(full, text)
    return full
  }
  return { cwd, home, write, ownFile: "../home/.config/quartermaster/quartermaster.yml" }
}

/** The problems a piece of work ends with; none when it succeeds. */
export function problemsOf(work: () => unknown): ConfigError["problems"] {
  try {
    work()
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

/** Every value that is not a section, by its path. An empty section has none. */
export function leavesOf(value: unknown, path: readonly string[] = []): Map<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return new Map([[JSON.stringify(path), value]])
  }
  return new Map(Object.entries(value).flatMap(([key, part]) => [...leavesOf(part, [...path, key])]))
}

/** Configurations whose numbers lie around the defaults. `text` makes the names, `or` what may stand for any value. */
export function configs(text: fc.Arbitrary<string>, or: fc.Arbitrary<unknown>[] = []): fc.Arbitrary<object> {
  const any = (...values: fc.Arbitrary<unknown>[]) => fc.oneof(...values, ...or)
  const some = (model: Record<string, fc.Arbitrary<unknown>>) => fc.record(model, { requiredKeys: [] })
  const names = any(fc.array(text, { maxLength: 3 }))
  const small = any(fc.integer({ min: 1, max: 5 }))
  const flag = any(fc.boolean())
  const permission = some({
    level: any(fc.constantFrom("public", "moderate", "sensitive")),
    requireExecutionApproval: flag,
    requireResultApproval: any(fc.constantFrom("never", "on-error", "always")),
    dangerous: flag,
    requireConfirmation: flag,
    allowedRoles: names,
    allowedDepartments: names,
    minLevel: any(fc.integer({ min: -1, max: 3 })),
    rateLimit: some({ maxCallsPerMinute: small, maxCallsPerHour: small }),
  })
  return some({
    data: some({ dir: text, durability: any(fc.constantFrom("crash", "power")) }),
    agent: text,
    tools: some({
      enabled: names,
      timeout: any(fc.constantFrom(1, 29_999, 30_000, 30_001, 600_000)),
      maxConcurrent: small,
      permissions: fc.dictionary(fc.constantFrom("sleep", "get_env", "a.b", "mcp:server:tool"), permission),
    }),
    agents: some({ maxConcurrentTools: small }),
    org: some({
      roles: fc.array(fc.record({ name: text, toolGroups: fc.option(fc.array(text)) }), { maxLength: 2 }),
      levelOrder: any(fc.constantFrom("asc", "desc")),
      defaultToolGroups: names,
    }),
    notify: fc.array(fc.record({ webhook: fc.constant("https://one.example/${SECRET}") }), { maxLength: 2 }),
    approvals: some({
      deadline: any(fc.constantFrom(0.5, 29, 30, 31, 1000)),
      unattended: any(fc.constantFrom("wait", "reject")),
      inClient: any(fc.constantFrom("none", "medium", "all")),
    }),
    hooks: some({ askInClient: fc.boolean() }),
    telemetry: some({ enabled: fc.boolean(), content: fc.boolean() }),
  })
}
