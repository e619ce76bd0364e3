import { z } from "zod"
import { defineTool } from "../../model/define-tool.ts"
import type { OrganisationBook } from "../../model/organisation-book.ts"
import { roleShape } from "./shapes.ts"

/** Finds the live role of a name. */
export const findRoleByName = (book: OrganisationBook) =>
  defineTool({
    name: "find_role_by_name",
    group: "org_management",
    category: "communication",
    description: "Find a role by its exact name. Returns the role, or null when there is none.",
    effect: "read",
    permission: { level: "moderate" },
    idempotent: true,
    input: z.object({ name: z.string().min(1).describe("The role's name, for example developer") }),
    output: roleShape.nullable(),

    execute({ name }) {
      const role = book.findRole(name)
      return role?.name === name ? role : null
    },
  })
