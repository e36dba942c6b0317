// The contract of settlement levels in the dashboard.
import { settlementLevelEndpoints } from "../../../merchants/settlementLevels/Api.ts"
import { forMembers, memberGroup } from "../memberGroup.ts"

const { retrieve, update } = settlementLevelEndpoints(forMembers)

export class SettlementLevelPagesApi extends memberGroup("settlementLevelPages")(retrieve, update) {}
