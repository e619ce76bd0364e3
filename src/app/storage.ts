import { lazyAudit } from "../audit/lazy-audit.ts"
import { masker } from "../audit/mask.ts"
import { auditedDocuments } from "../audit/audited-documents.ts"
import { waitForOtherProcesses } from "../call/housekeeping.ts"
import { fileDigests } from "../platform/files/file-digests.ts"
import { fileSizes } from "../platform/files/file-sizes.ts"
import { fileVersions } from "../platform/files/file-versions.ts"
import { healthOf } from "../store/sqlite/health.ts"
import { lazyCalls } from "../store/sqlite/lazy.ts"
import { sealKey } from "../store/sqlite/record-key.ts"
import type { Grant } from "../core/rule.ts"
import type { Touches } from "../core/touches.ts"
import type { Store } from "../store/sqlite/store.ts"
import type { Setup } from "./setup.ts"

export type Storage = ReturnType<typeof openStorage>

/** The store, with the audit log over it: every change of a document is recorded. */
export function openStorage(store: Store, { settings, secrets, isShort, now }: Setup) {
  const { durability, workspace } = settings
  const masking = masker(store.key, secrets)
  const recording = { recorder: store.recorder, masker: masking, durability }
  const documents = auditedDocuments(store.documents, recording)
  return {
    store,
    documents,
    recording,
    audit: lazyAudit(store),
    /** A short-lived command waits until other processes have seen its change. */
    async waitForOthers(): Promise<void> {
      if (isShort) await waitForOtherProcesses()
    },
    /** Writes a note about a conversation or a run into the audit log. */
    note: (callId: string, agentId: string, text: string) =>
      store.recorder.write({ kind: "note", at: now(), callId, agentId, text }, durability),
    /** The parts of a call's ports that the store implements, and those that read files in the workspace. */
    ports: {
      recorder: store.recorder,
      calls: lazyCalls(store),
      artifacts: store.artifacts,
      limits: store.limits,
      masker: masking,
      grants: {
        save: async (grant: Grant) =>
          void (await documents.put({ kind: "grant", id: grant.id, body: grant }, grant.by)),
      },
      isAlive: (owner: string) => store.leases.isAlive(owner),
      refresh: () => documents.refresh(),
      digests: (touches: Touches) => fileDigests(touches, workspace),
      fileSizes: (touches: Touches) => fileSizes(touches, workspace),
      fileVersions: (touches: Touches) => fileVersions(touches, workspace),
    },
    /** The methods of the app that are about the store itself. */
    api: {
      changes: store.changes,
      sealKey: (purpose: string) => sealKey(store.key, purpose),
      health: healthOf(store.database, store.recorder, now),
      backup: async (folder: string) => (await import("../store/sqlite/backup.ts")).backup(store, folder),
      settle: () => store.recorder.settle(),
    },
  }
}
