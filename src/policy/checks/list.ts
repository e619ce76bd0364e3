import type { Check, Stage } from "../check.ts"
import { agentCheck } from "./agent.ts"
import { allowRulesCheck } from "./allow-rules.ts"
import { allowedDepartmentsCheck } from "./allowed-departments.ts"
import { allowedRolesCheck } from "./allowed-roles.ts"
import { askRulesCheck } from "./ask-rules.ts"
import { confirmationCheck } from "./confirmation.ts"
import { databaseRolesCheck } from "./database-roles.ts"
import { denyRulesCheck } from "./deny-rules.ts"
import { dependencyCheck } from "./dependency.ts"
import { editsModeCheck } from "./edits-mode.ts"
import { enabledCheck } from "./enabled.ts"
import { freezeCheck } from "./freeze.ts"
import { groupCheck } from "./group.ts"
import { guardAllowCheck } from "./guard-allow.ts"
import { guardAskCheck } from "./guard-ask.ts"
import { guardDenyCheck } from "./guard-deny.ts"
import { guardLevelCheck } from "./guard-level.ts"
import { hidingRuleCheck } from "./hiding-rule.ts"
import { minLevelCheck } from "./min-level.ts"
import { parentCheck } from "./parent.ts"
import { planModeCheck } from "./plan-mode.ts"
import { quarantineCheck } from "./quarantine.ts"
import { rateLimitCheck } from "./rate-limit.ts"
import { releaseRulesCheck } from "./release-rules.ts"
import { rememberedNoCheck } from "./remembered-no.ts"
import { rememberedYesCheck } from "./remembered-yes.ts"
import { shadowRulesCheck } from "./shadow-rules.ts"
import { toolLevelCheck } from "./tool-level.ts"
import { unprovedTouchesCheck } from "./unproved-touches.ts"

/** The agent's rights to the tool. Every agent above must have them too. */
const rights = [groupCheck, allowedRolesCheck, allowedDepartmentsCheck, minLevelCheck]

/**
 * Every check, in the order in which `qm why` shows them. The stage of a check says what it may decide; within a stage
 * the first result gives the first reason.
 */
export const checks: readonly AnyCheck[] = [
  agentCheck,
  freezeCheck,
  enabledCheck,
  quarantineCheck,
  ...rights,
  hidingRuleCheck,
  parentCheck(rights),
  dependencyCheck,

  rateLimitCheck,
  guardDenyCheck,
  databaseRolesCheck,
  denyRulesCheck,
  planModeCheck,
  rememberedNoCheck,

  askRulesCheck,
  guardAskCheck,
  unprovedTouchesCheck,
  confirmationCheck,

  toolLevelCheck,
  guardLevelCheck,

  allowRulesCheck,
  guardAllowCheck,
  editsModeCheck,
  rememberedYesCheck,

  releaseRulesCheck,
  shadowRulesCheck,
]

export type AnyCheck = { [S in Stage]: Check<S> }[Stage]

/** The checks of one stage, in their order. */
export function checksOf<S extends Stage>(stage: S): readonly Check<S>[] {
  return checks.filter((check) => check.stage === stage) as unknown as Check<S>[]
}
