import type { Guards } from "../../core/guard.ts"
import type { LevelOrder } from "../../core/permission.ts"
import type { Organisation } from "../../org/organisation.ts"
import type { Tools } from "../../registry/tools.ts"
import type { Policy } from "./policy.ts"

/** The parts of the system that deciding a recorded call again needs. */
export interface DecisionPorts {
  tools: Tools
  organisation: Organisation
  policy: Policy
  guards: Guards
  settings: {
    readonly levelOrder: LevelOrder
    /** The folder this process works in. */
    readonly workspace: string
  }
  now(): number
}
