import type { PermissionSources, ToolPermission } from "../core/permission.ts"
import type { UnsetVariables } from "../core/unset-variables.ts"
import type { QuartermasterOptions } from "./quartermaster.ts"

/** The options of a host, and those that only our own command line sets. */
export interface AppOptions extends QuartermasterOptions {
  /** Permissions from an untrusted file. They apply only where they are stricter. */
  tightening?: Readonly<Record<string, ToolPermission>>
  /** Where permissions of tools are written, by tool and key, for messages: `quartermaster.yml:12 tools.permissions.…`. */
  permissionSources?: Readonly<Record<string, PermissionSources>>
  /** Where each rule of the configuration is written, for messages: `quartermaster.yml rules[3]`. */
  ruleSources?: readonly string[]
  /** Variables that the configuration reads and that are not set: what needs them fails with their names. */
  unset?: UnsetVariables
  /** How often expired and abandoned calls are ended, in milliseconds (default: 30000); 0 turns it off. */
  sweepMs?: number
  /** Absolute paths that no tool reads or writes, such as the folder with tokens. */
  privatePaths?: readonly string[]
  /** Absolute paths that tools read but never write, such as configuration files. */
  readOnlyPaths?: readonly string[]
  /** The version sent to MCP servers. */
  version?: string
}
