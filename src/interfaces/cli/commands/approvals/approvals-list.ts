import { basename, dirname } from "node:path"
import type { LoadedConfig } from "../../../../config/load.ts"
import { errorMessage } from "../../../../lib/error-message.ts"
import type { Quartermaster } from "../../../../app/quartermaster.ts"
import type { PendingItem } from "../../../../core/approval.ts"
import { agentOfEntries } from "../../common/known-names.ts"
import { printableJson } from "../../../../lib/printable.ts"
import { shellWord } from "../../../../lib/shell-word.ts"
import type { CliContext } from "../../common/context.ts"
import { showList, type ListColumn } from "../../common/listing.ts"
import { loadConfigWithWarnings, personOf, withApp } from "../../common/open-app.ts"
import { printMessage } from "../../common/output.ts"
import { formatDuration, formatTime } from "../../common/time-text.ts"

/** Lists what waits here; outside any project, what waits in every data folder this user has created or trusted. */
export async function listPending(context: CliContext): Promise<number> {
  const loaded = await context.runtime.loadConfig(context.flags)
  // People belong to one project, so with --as it is the one here.
  if (context.flags.as === undefined && loaded.project === undefined && loaded.config.data?.dir === undefined)
    return listEverywhere(context)
  return withApp(context, { readOnly: true }, async (app) => {
    if (context.flags.as !== undefined) await personOf(context, app, loaded)
    const items = await pendingIn(context, app)
    await showList(context, items, await columns(items), "Nothing waits for a person.", { whole: true })
    return 0
  })
}

async function listEverywhere(context: CliContext): Promise<number> {
  const { knownFolders } = await import("../../../../config/known-folders.ts")
  const loaded = await loadConfigWithWarnings(context)
  const folders = knownFolders(context.io.home)
  const found: (PendingItem & { folder: string })[] = []
  for (const dataDir of folders) found.push(...(await pendingInFolder(context, loaded, dataDir)))
  await showList(
    context,
    found,
    [...(await columns(found)), { title: "FOLDER", of: ({ folder }) => folder }],
    `Nothing waits for a person in the ${folders.length} data folders you have used. There is no project here.`,
    { whole: true },
  )
  const [first] = found
  if (first !== undefined && !context.flags.json) {
    const where = isDefault(first.folder)
      ? `-C ${shellWord(dirname(first.folder))}`
      : `--data ${shellWord(first.folder)}`
    printMessage(
      context,
      `To answer, go to the folder or name it, for example: qm ${where} approvals show ${first.callId}`,
    )
  }
  return 0
}

async function pendingInFolder(context: CliContext, loaded: LoadedConfig, dataDir: string) {
  try {
    const app = await context.runtime.openApp({ ...loaded, config: {}, ruleSources: [], dataDir })
    try {
      return (await pendingIn(context, app)).map((item) => ({ ...item, folder: dataDir }))
    } finally {
      await app.close()
    }
  } catch (error) {
    printMessage(context, `${dataDir} cannot be looked at: ${errorMessage(error)}`)
    return []
  }
}

function pendingIn(context: CliContext, app: Quartermaster) {
  const agent = agentOfEntries(context, app)
  return app.approvals.list(agent === undefined ? {} : { agentId: agent })
}

async function columns<T extends PendingItem>(items: readonly T[]): Promise<ListColumn<T>[]> {
  const { aboutItem } = await import("../../../../approvals/ask/item-text.ts")
  const now = Date.now()
  return [
    { title: "ID", of: ({ callId }) => callId, paint: "bold" },
    { title: "RISK", of: ({ risk }) => risk.band },
    { title: "KIND", of: ({ kind }) => kind },
    { title: "AGENT", of: ({ agentId }) => agentId },
    { title: "TOOL", of: ({ tool }) => tool },
    { title: "ABOUT", of: aboutItem },
    { title: "WAITS", of: ({ createdAt }) => formatDuration(now - createdAt) },
    { title: "UNTIL", of: ({ until }) => (Number.isFinite(until) ? formatTime(until) : undefined), paint: "dim" },
    ...(items.some(({ intent }) => intent !== undefined) ? [intentColumn] : []),
  ]
}

const intentColumn: ListColumn<PendingItem> = {
  title: "THE AGENT SAYS (UNVERIFIED)",
  of: ({ intent }) => intent && printableJson(intent),
}

function isDefault(dataDir: string): boolean {
  return basename(dataDir) === ".quartermaster"
}
