import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import type { OrganisationAdmin } from "../../org/organisation-admin.ts"
import { roleOutput } from "./output-schemas.ts"

/** Finds the active role with a name. */
export const findRoleByName = (book: OrganisationAdmin) =>
  defineTool({
    name: "find_role_by_name",
    group: "org_management",
    category: "communication",
    description: "Find a role by its exact name. Returns the role, or null when there is none.",
    effect: "read",
    permission: { level: "moderate" },
    idempotent: true,
    input: () => z.object({ name: z.string().min(1).describe("The role's name, for example developer") }),
    output: roleOutput.nullable(),

    execute({ name }) {
      const role = book.findRole(name)
      return role?.name === name ? role : null
    },
  })
