/** From which share of the context window on a conversation counts as long. */
export const contextThresholds = { warning: 0.7, critical: 0.9, exceeded: 0.95 } as const

/** The fill level of the context window of a conversation. */
export interface ContextStatus {
  usedTokens: number
  maxTokens: number
  /** From 0 to 1. */
  usagePercent: number
  usagePercentStr: string
  status: "normal" | "warning" | "critical" | "exceeded"
  thresholds: typeof contextThresholds
}

/** The context of one conversation while a run of it is in progress. */
export interface ConversationContext {
  readonly agentId: string
  status(): ContextStatus
  /** Puts the summary in place of all but the last messages. Counts are messages. */
  compress(
    summary: string,
    keepRecentCount: number,
  ): Promise<{ compressed: boolean; originalCount: number; newCount: number }>
}

/** The conversations that run in this process, by their id, which is the session of their calls. */
export type ConversationContexts = Map<string, ConversationContext>

export function contextStatus(usedTokens: number, maxTokens: number): ContextStatus {
  const usagePercent = usedTokens / maxTokens
  const { warning, critical, exceeded } = contextThresholds
  return {
    usedTokens,
    maxTokens,
    usagePercent,
    usagePercentStr: `${(usagePercent * 100).toFixed(1)}%`,
    status:
      usagePercent >= exceeded
        ? "exceeded"
        : usagePercent >= critical
          ? "critical"
          : usagePercent >= warning
            ? "warning"
            : "normal",
    thresholds: contextThresholds,
  }
}
