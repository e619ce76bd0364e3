import { join } from "node:path"
import { onTestFinished } from "vitest"
import { silentLogger } from "../../core/logger.ts"
import { dataFolder } from "../../testing/test-app.ts"
import { newOwnerName } from "../sqlite/owner.ts"
import { openStore } from "../sqlite/store.ts"

export async function openArtifacts(existing?: string) {
  const dir = existing ?? (await dataFolder())
  const store = await openStore({ dataDir: dir, owner: newOwnerName(), logger: silentLogger, writes: "direct" })
  onTestFinished(() => store.close().catch(() => {}))
  return { artifacts: store.artifacts, store, dir, folder: join(dir, "artifacts") }
}
export const artifactIdOf = (ref: string) => ref.replace("artifact:", "")
