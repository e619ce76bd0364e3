import { loopTools } from "../agents/chain/loop-tools.ts"
import { openChains } from "../agents/chain/open-chains.ts"
import { openChatDocuments } from "../agents/documents/chat-documents.ts"
import { openModels } from "../agents/models/open-models.ts"
import { openPipelines } from "../agents/pipeline/open-pipelines.ts"
import { runPipelineTool } from "../agents/pipeline/run-pipeline-tool.ts"
import { mailOf } from "../agents/society/mail.ts"
import { societyOptions } from "../agents/society/run-options.ts"
import { openSociety } from "../agents/society/society.ts"
import { chainSettings } from "../config/call-settings.ts"
import { modelEntries } from "../config/models-schema.ts"
import { daySpending } from "../store/sqlite/day-spending.ts"
import { keyWindowMs } from "../store/stored-request.ts"
import type { CallParts, Parts } from "./calls.ts"
import type { Setup } from "./setup.ts"

/** Models, conversations, pipelines and the society: what uses the tools by itself. */
export function openAgents(
  setup: Setup,
  { storage, emitter, catalog, organisation, builtins }: Parts,
  { api, ports }: CallParts,
) {
  const { config, options, logger, owner, now } = setup
  const { store, documents, note } = storage
  const { emit } = emitter
  const { org } = organisation
  const { isAlive, closing } = ports
  const { keepMs: _, ...limits } = chainSettings(config)
  const models = openModels({
    settings: modelEntries(config.models),
    default: config.models?.default,
    environment: setup.environment,
    own: options.models,
    unset: options.unset?.models,
  })
  const mailParts = { messages: store.messages, conversations: store.conversations, org, emit, now }
  const runOptionParts = {
    org,
    mcpTools: api.mcpTools,
    dialectNames: (dialect: string) => catalog.registry.dialectNames(dialect),
    limits: { maxRounds: limits.maxRounds, maxCalls: limits.maxCalls },
  }
  const { chainsIdle, openChain, reopen, ...chains } = openChains({
    app: api,
    models,
    conversations: store.conversations,
    owner,
    isAlive,
    isActive: (agentId) => org.view(agentId) !== undefined,
    claimedHere: new Map(),
    roleOf: (agentId) => org.view(agentId)?.role,
    closing,
    contexts: builtins.contexts,
    settings: limits,
    daySpending: daySpending(store.database),
    ancestorsOf: (agentId) => (org.view(agentId)?.ancestors ?? []).map(({ agent }) => agent.id),
    emit,
    mailOf: (conversationId, agentId) => mailOf(mailParts, conversationId, agentId),
    societyOptions: (conversation) => societyOptions(runOptionParts, conversation),
    note,
  })
  const { pipelinesIdle, pipeline } = openPipelines({
    app: api,
    closing,
    resumableMs: Math.min(limits.resumableMs, keyWindowMs),
    emit,
    note,
  })
  const { society, organisationChanged, agentsEnded } = openSociety({
    ...mailParts,
    owner,
    isAlive,
    changes: store.changes,
    app: { on: (type, listener) => emitter.on(type, listener), approvals: api.approvals },
    models,
    openChain,
    reopen,
    closing,
    logger,
  })
  const callEvents = ["TOOL_CALL_WAITING", "TOOL_CALL_ANSWERED", "TOOL_CALL_APPROVED", "TOOL_CALL_REJECTED"] as const
  const chatDocuments = openChatDocuments({
    conversations: chains.conversations,
    chain: chains.chain,
    documents,
    approvals: api.approvals,
    audit: storage.audit,
    settle: storage.api.settle,
    findTool: api.findTool,
    visibleTool: api.visibleTool,
    files: builtins.documentFiles,
    nameOf: (person) => org.findPerson(person)?.name ?? person,
    onCalls: (listener) => {
      for (const type of callEvents) emitter.on(type, listener)
    },
    closing,
  })
  documents.onChange(organisationChanged)
  org.onTerminated(agentsEnded)
  catalog.registry.registerMany([...loopTools, runPipelineTool(api)], { type: "builtin" })
  return {
    /** Resolves when no conversation and no pipeline runs. */
    async idle(): Promise<void> {
      await chainsIdle()
      await pipelinesIdle()
    },
    api: { models, ...chains, pipeline, society, documents: chatDocuments },
  }
}
