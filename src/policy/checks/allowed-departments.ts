import { defineCheck, deny } from "../check.ts"
import { permissionLine, roleFix } from "../fix-text.ts"

/** The tool's `allowedDepartments`. */
export const allowedDepartmentsCheck = defineCheck({
  name: "department",
  stage: "visible",
  source: ({ tool }) => tool.permissionSources?.allowedDepartments ?? tool.id,
  look({ tool: { name, permission }, who: { role, department } }) {
    const { allowedDepartments } = permission
    if (allowedDepartments.length === 0 || allowedDepartments.includes(department ?? "")) return undefined
    const fix = () =>
      department === undefined
        ? roleFix(role, { department: allowedDepartments[0]! })
        : permissionLine(name, "allowedDepartments", [...allowedDepartments, department])
    return deny("department_not_allowed", { department: department ?? "(none)" }, { fix })
  },
  sentences: {
    department_not_allowed: {
      en: ({ department }: { department: string }) => `Department ${department} not allowed`,
      zh: "部门 {department} 不被允许。",
    },
  },
  passes: {
    en: ({ tool }) =>
      tool.permission.allowedDepartments.length === 0
        ? "The tool is open to every department."
        : "The tool is open to this department.",
    zh: "工具对其部门开放。",
  },
})
