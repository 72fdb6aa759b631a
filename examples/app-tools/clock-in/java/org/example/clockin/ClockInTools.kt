package org.example.clockin

// Clock In: Clocks you in at work and looks up the days on which you did
// This list must match res/xml/mcp_capabilities.xml.
class ClockInTools : MobileMcpService() {
    override val capabilities = listOf(
        Capability(
            id = "clock_in_today",
            input = emptyList(),
            output = listOf(
                Param("time", "string"),
            ),
            run = { doClockInToday() },
        ),
        Capability(
            id = "query_clock_in",
            input = listOf(
                Param("date", "string", required = true),
            ),
            output = listOf(
                Param("date", "string"),
                Param("has_clocked_in", "boolean"),
            ),
            run = { given -> doQueryClockIn(given.getString("date")) },
        ),
        Capability(
            id = "list_days",
            input = listOf(
                Param("limit", "integer"),
            ),
            output = listOf(
                Param("days", "string"),
            ),
            run = { given -> doListDays(if (given.has("limit")) given.getLong("limit") else null) },
        ),
    )

    // Clocks in for today
    //   output time: Time of day, as HH:MM
    private fun doClockInToday(): Map<String, Any> {
        // return mapOf("time" to "")
        throw Refusal("clock_in_today is not implemented yet.")
    }

    // Checks whether you clocked in on a day
    //   input date: The day, as YYYY-MM-DD
    //   output date: The day
    //   output has_clocked_in: Whether you clocked in
    private fun doQueryClockIn(date: String): Map<String, Any> {
        // return mapOf("date" to "", "has_clocked_in" to true)
        throw Refusal("query_clock_in is not implemented yet.")
    }

    // Lists the most recent days on which you clocked in
    //   input limit: Maximum number of days, 7 by default
    //   output days: The days, comma-separated
    private fun doListDays(limit: Long?): Map<String, Any> {
        // return mapOf("days" to "")
        throw Refusal("list_days is not implemented yet.")
    }
}
