import { transaction } from "../store/sqlite/database.ts"
import { rebuildSums } from "../store/sqlite/sums.ts"
import { openTestStore } from "../store/testing/test-store.ts"
import { sumsContract } from "./sums.contract.ts"

for (const writes of ["direct", "journal"] as const)
  sumsContract(
    `SQLite, ${writes}`,
    async () => {
      const store = await openTestStore({ writes })
      return {
        audit: store.audit,
        async write(entries) {
          await Promise.all(entries.map((entry) => store.recorder.write(entry, "crash")))
          await store.recorder.settle()
        },
        rebuild: async () => transaction(store.database, () => rebuildSums(store.database)),
      }
    },
    { drops: writes === "direct" },
  )
