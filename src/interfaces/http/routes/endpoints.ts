import { activityEndpoints } from "./activity.ts"
import { agentEndpoints } from "./agents.ts"
import { approvalEndpoints } from "./approvals.ts"
import { auditEndpoints } from "./audit.ts"
import { chainEndpoints } from "./chains.ts"
import { documentEndpoints } from "./documents.ts"
import type { Endpoint } from "./endpoint.ts"
import { hookEndpoints } from "./hooks.ts"
import { linkEndpoints } from "./links.ts"
import { organisationEndpoints } from "./organisation.ts"
import { peopleEndpoints } from "./people.ts"
import { roleEndpoints } from "./roles.ts"
import { ruleEndpoints } from "./rules.ts"
import { sampleEndpoints } from "./sample.ts"
import { serverEndpoints } from "./servers.ts"
import { toolEndpoints } from "./tools.ts"

/** Everything under /v1. Fixed paths come before those with parameters. */
export const endpoints: readonly Endpoint[] = [
  ...toolEndpoints,
  ...approvalEndpoints,
  ...linkEndpoints,
  ...organisationEndpoints,
  ...roleEndpoints,
  ...agentEndpoints,
  ...activityEndpoints,
  ...peopleEndpoints,
  ...ruleEndpoints,
  ...auditEndpoints,
  ...chainEndpoints,
  ...documentEndpoints,
  ...serverEndpoints,
  ...sampleEndpoints,
  ...hookEndpoints,
]
