import { isAbsolute, join } from "node:path"
import { openDocumentPaths } from "../agents/documents/chat-documents.ts"
import { listenAddress } from "../config/listen-address.ts"
import { serverSpecs } from "../config/mcp-servers.ts"
import { pluginEntries } from "../config/plugins.ts"
import { httpOrigin } from "../lib/url.ts"
import { auditedTrash } from "../audit/audited-trash.ts"
import { startMcpServers } from "../mcp-servers/servers.ts"
import { hasRole } from "../policy/has-role.ts"
import { openRegistry } from "../registry/open-registry.ts"
import { pluginCatalog } from "../registry/plugins/catalog.ts"
import { sessionEnvironment } from "../store/sqlite/session-environment.ts"
import { storedSnippets } from "../store/sqlite/snippets.ts"
import { storedTodos } from "../store/sqlite/todos.ts"
import type { ConversationContexts } from "../tools/context/context.ts"
import { orgManagementTools } from "../tools/org_management/index.ts"
import { builtinModules, moduleRuntimes } from "./builtin-modules.ts"
import { openBuiltins } from "./builtin.ts"
import type { Emitter } from "./emitter.ts"
import type { Organisation } from "./organisation.ts"
import type { Setup } from "./setup.ts"
import type { Storage } from "./storage.ts"

export type Catalog = ReturnType<typeof openCatalog>
export type BuiltinTools = ReturnType<typeof addBuiltinTools>

/** Every tool by name, version and layer; empty at first. */
export function openCatalog({ config, options, settings, logger }: Setup, storage: Storage, { emit }: Emitter) {
  const { levelOrder, language } = settings
  const { documents, audit } = storage
  const { registry, groups, experiments } = openRegistry(
    {
      permissions: config.tools?.permissions,
      tightening: options.tightening,
      permissionSources: options.permissionSources,
      enabled: config.tools?.enabled,
      experiments: config.experiments,
    },
    { documents, audit, logger, levelOrder, language, emit },
  )
  return {
    registry,
    groups,
    groupList: { has: (id: string) => groups.hasGroup(id), list: () => groups.listGroups() },
    api: { registry, groups, experiments, listGroups: () => groups.listGroups() },
  }
}

/** Adds the built-in tools and their guards. */
export function addBuiltinTools(setup: Setup, storage: Storage, catalog: Catalog, { org }: Organisation) {
  const { config, options, settings, dataDir, isShort } = setup
  const { store, recording, documents } = storage
  const { host, port } = listenAddress(config)
  const { publicUrl } = config.server ?? {}
  const addresses = [httpOrigin(host, port), ...(publicUrl === undefined ? [] : [publicUrl])]
  const plugins = pluginEntries(config).map(({ path }) => path)
  const contexts: ConversationContexts = new Map()
  const builtins = openBuiltins(config, {
    workspace: settings.workspace,
    dataDir,
    home: options.home,
    privatePaths: options.privatePaths ?? [],
    readOnlyPaths: [...(options.readOnlyPaths ?? []), ...plugins.filter(isAbsolute)],
    openDocuments: () => openDocumentPaths(documents),
    environment: setup.toolEnvironment(),
    currentEnvironment: () => setup.toolEnvironment(),
    snippets: options.snippets ?? storedSnippets(store.database),
    todos: storedTodos(store.database),
    session: sessionEnvironment(store.database),
    contexts,
    undoWaitMs: options.undoWaitMs,
    logger: setup.logger,
    now: setup.now,
    print: setup.print,
    longLived: !isShort,
    ownAddresses: () => addresses,
    unsetForWebSearch: options.unset?.webSearch,
    unsetForDatabases: options.unset?.databases,
    hasRole(agentId, roles) {
      const who = org.view(agentId)
      return who !== undefined && hasRole(who, roles)
    },
  })
  catalog.registry.registerMany([...builtins.tools, ...orgManagementTools(org, catalog.groupList)], { type: "builtin" })
  return {
    ...builtins,
    contexts,
    api: {
      addOwnAddress: (address: string) => void addresses.push(address),
      trash: auditedTrash(builtins.trash, recording),
      sandbox: () => builtins.processes.layer(false),
    },
  }
}

/** Connects other people's servers and loads plugins, whose tools join the catalog. */
export async function connectExtensions(setup: Setup, storage: Storage, catalog: Catalog, builtins: BuiltinTools) {
  const { config, options, settings, logger, dataDir, isShort } = setup
  const { workspace, language } = settings
  const { documents } = storage
  const { registry, groups } = catalog
  const mcp = await startMcpServers(serverSpecs(config, options.unset?.servers), {
    registry,
    groups,
    documents,
    logger,
    workspace,
    version: options.version ?? "0",
    logins: join(dataDir, "logins"),
    lazy: isShort,
  })
  const plugins = pluginCatalog(pluginEntries(config), {
    registry,
    documents,
    logger,
    language,
    base: workspace,
    watch: options.reloadPlugins,
    known: builtinModules,
    runtime: moduleRuntimes({
      language,
      longLived: !isShort,
      connect: builtins.connect,
      files: builtins.files,
      dataDir,
      mask: (secret) => void setup.secrets.push(secret),
    }),
  })
  return { mcp, plugins }
}
