import { LruResultCache } from "../call/state/result-cache.ts"
import { AgentPermits } from "../call/state/permits.ts"
import type { Ports } from "../call/state/ports.ts"
import type { Recorder } from "../store/port.ts"
import { silentLogger } from "../core/logger.ts"
import type { Durability } from "../core/reason.ts"
import type { AuditEntry, StartEntry } from "../core/audit-entry.ts"
import { Directory } from "../org/directory.ts"
import { unguarded } from "../guards/combine-guards.ts"
import { PolicySource } from "../policy/decide/policy-source.ts"
import { ToolRegistry } from "../registry/registry.ts"
import { fileVersions } from "../platform/files/file-versions.ts"
import { masker } from "../audit/mask.ts"
import { isOwnerAlive, newOwnerName } from "../store/sqlite/owner.ts"
import type { Store } from "../store/sqlite/store.ts"

/** A recorder that collects entries in a list and fails when `fails` returns true. */
export class ListRecorder implements Recorder {
  readonly entries: AuditEntry[] = []
  attempts = 0
  fails: (attempt: number) => boolean = () => false

  readonly durabilities: string[] = []

  write(entry: AuditEntry, durability: Durability): Promise<void> {
    this.attempts++
    this.durabilities.push(`${entry.kind} ${durability}`)
    if (this.fails(this.attempts)) return Promise.reject(new Error("no space left on device"))
    this.entries.push(entry)
    return Promise.resolve()
  }

  queue(start: StartEntry, written: () => void): Promise<void> {
    return this.write(start, "crash").then(written)
  }

  flush(): void {}

  settle(): Promise<void> {
    return Promise.resolve()
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

/** The ports of a call over a real store. A test can replace some of them. */
export async function portsOver(store: Store, replaced: Partial<Ports> = {}): Promise<Ports & { tools: ToolRegistry }> {
  const tools = new ToolRegistry()
  return {
    organisation: new Directory({
      documents: store.documents,
      messages: store.messages,
      groups: { has: () => true, list: () => [] },
      levelOrder: "asc",
    }),
    policy: new PolicySource({
      rules: () => [],
      grants: () => [],
      modeOf: () => "ask",
      version: () => 1,
      tools: { canonical: (name) => name, inGroups: (tool, groups) => tools.inGroups(tool, groups) },
      toolsVersion: () => tools.version,
      policyVersion: () => "test",
      now: Date.now,
    }),
    guards: unguarded,
    cache: new LruResultCache(),
    limits: store.limits,
    undo: { before: async () => {}, after: async () => [] },
    permits: new AgentPermits(3),
    recorder: store.recorder,
    calls: await store.calls(),
    artifacts: store.artifacts,
    masker: masker(store.key),
    findAsker: () => undefined,
    grants: { save: () => Promise.resolve() },
    rolesOf: () => undefined,
    personSince: () => undefined,
    isTokenValid: () => true,
    resumesAutomatically: () => Promise.resolve(false),
    isAgent: () => false,
    emit: () => {},
    hasListeners: () => true,
    running: new Map(),
    closing: new AbortController().signal,
    logger: silentLogger,
    settings: {
      durability: "crash",
      timeoutMs: 30_000,
      approvalDeadlineMs: 60_000,
      maxWaiting: 100,
      unattended: "wait",
      levelOrder: "asc",
      askIntent: false,
      language: "en",
      workspace: process.cwd(),
    },
    owner: newOwnerName(),
    isAlive: isOwnerAlive,
    digests: () => Promise.resolve({}),
    fileSizes: () => Promise.resolve({}),
    newHosts: () => Promise.resolve([]),
    fileVersions: (touches) => fileVersions(touches, process.cwd()),
    refresh: () => Promise.resolve(false),
    notify: () => {},
    tellUnasked: () => {},
    now: Date.now,
    ...replaced,
    tools,
  }
}
