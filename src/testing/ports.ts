import { LastResults } from "../call/cache.ts"
import { AgentPermits } from "../call/permits.ts"
import type { Ports, Recorder } from "../model/ports.ts"
import { silentLogger } from "../model/logger.ts"
import type { Durability, RecordEntry } from "../model/record.ts"
import { Directory } from "../org/directory.ts"
import { unguarded } from "../policy/guards.ts"
import { PolicyBook } from "../policy/book.ts"
import { ToolRegistry } from "../registry/registry.ts"
import { fileVersions } from "../store/file-versions.ts"
import { masker } from "../store/mask.ts"
import { ownerLives, ownerName } from "../store/owner.ts"
import type { Store } from "../store/store.ts"

/** A recorder that keeps in a list and fails where the test says. */
export class ListRecorder implements Recorder {
  readonly kept: RecordEntry[] = []
  attempts = 0
  fails: (attempt: number) => boolean = () => false

  readonly grades: string[] = []

  keep(entry: RecordEntry, grade: Durability): Promise<void> {
    this.attempts++
    this.grades.push(`${entry.kind} ${grade}`)
    if (this.fails(this.attempts)) return Promise.reject(new Error("no space left on device"))
    this.kept.push(entry)
    return Promise.resolve()
  }

  settle(): Promise<void> {
    return Promise.resolve()
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

/** The walk's ports over a real store, with what the test replaces. */
export async function portsOver(store: Store, replaced: Partial<Ports> = {}): Promise<Ports & { tools: ToolRegistry }> {
  const tools = new ToolRegistry()
  return {
    organisation: new Directory({
      documents: store.documents,
      messages: store.messages,
      groups: { has: () => true, list: () => [] },
      levelOrder: "asc",
    }),
    policy: new PolicyBook({
      rules: () => [],
      grants: () => [],
      modeOf: () => "ask",
      version: () => 1,
      tools: { canonical: (name) => name, inGroups: (tool, groups) => tools.inGroups(tool, groups) },
      toolsVersion: () => tools.version,
      policyVersion: () => "test",
    }),
    guards: unguarded,
    cache: new LastResults(),
    limits: store.limits,
    permits: new AgentPermits(3),
    recorder: store.recorder,
    calls: await store.calls(),
    artifacts: store.artifacts,
    masker: masker(store.key),
    approvals: {},
    grants: { keep: () => Promise.resolve() },
    rolesOf: () => undefined,
    tokenCounts: () => true,
    isAgent: () => false,
    emit: () => {},
    hears: () => true,
    running: new Map(),
    closing: new AbortController().signal,
    logger: silentLogger,
    settings: {
      durability: "crash",
      timeoutMs: 30_000,
      approvalDeadlineMs: 60_000,
      unattended: "wait",
      levelOrder: "asc",
      workspace: process.cwd(),
    },
    owner: ownerName(),
    alive: ownerLives,
    digests: () => Promise.resolve({}),
    fileVersions: (touches) => fileVersions(touches, process.cwd()),
    refresh: () => Promise.resolve(false),
    notify: () => {},
    now: Date.now,
    ...replaced,
    tools,
  }
}
