package org.example

import android.app.PendingIntent
import android.app.Service
import android.content.Intent
import android.os.IBinder
import android.util.Log
import java.util.concurrent.Executors
import org.json.JSONArray
import org.json.JSONException
import org.json.JSONObject

/**
 * The tool's side of the Mobile-MCP Intent protocol 1.0, section 3.2: it reads a request, checks its version, its capability and its
 * arguments, has the capability do its work, and answers by the request's callback. What is specific to this app is in the class
 * that extends this one; nothing here needs to be changed.
 *
 * Callers differ in how they write a request, though all say "1.0". These are understood:
 *
 *  - `mobile-mcp-request`: `{"mobile-mcp-request": {"version", "request": {"id", "capability": {"id", "args": {…}}}}}`, as the
 *    specification has it; answered by `mobile-mcp-response`;
 *  - the same with `input` in the place of `args`, an object or a list of `{"name", "type", "value"}`;
 *  - `request`: `{"id", "capability": {"id", "input": {…}}}` without the rest, as the specification's sample apps send it; answered by
 *    `response` and `mcp_request_id`.
 *
 * Any app on the phone can start this service. Whatever costs money, tells secrets or cannot be undone should ask the user first.
 */
abstract class MobileMcpService : Service() {
    /** What the tool can do: the same as in res/xml/mcp_capabilities.xml. */
    protected abstract val capabilities: List<Capability>

    /** A capability. [run] gets arguments that fit [input], on a thread of its own, and gives the values of [output] by name. */
    class Capability(
        val id: String,
        val input: List<Param>,
        val output: List<Param>,
        val run: (JSONObject) -> Map<String, Any>,
    )

    /** A value that is taken or given. [type] is string, boolean, integer or number. */
    class Param(val name: String, val type: String, val required: Boolean = false)

    /** Why something is not done; the caller reads the message. */
    class Refusal(message: String) : Exception(message)

    private val worker = Executors.newSingleThreadExecutor()

    // Messages through a binding are the protocol's other way. This tool is asked by Intents.
    override fun onBind(intent: Intent): IBinder? = null

    override fun onStartCommand(intent: Intent?, flags: Int, startId: Int): Int {
        // A caller that uses startForegroundService wants startForeground() here within seconds, with a notification of this app.
        worker.execute {
            if (intent != null) handle(intent)
            stopSelf(startId)
        }
        return START_NOT_STICKY
    }

    override fun onDestroy() {
        worker.shutdown()
        super.onDestroy()
    }

    /** A request as it came, and how it wants to be answered. */
    private class Request(val id: String, val capability: JSONObject, val version: String?, val inEnvelope: Boolean)

    private fun handle(intent: Intent) {
        val request = try {
            read(intent)
        } catch (e: JSONException) {
            Log.w(TAG, "the request is not JSON as the protocol has it: ${e.message}")
            null
        }
        // Without an id there is nothing that an answer could belong to.
        if (request == null) return
        val id = request.capability.optString("id")
        val known = capabilities.find { it.id == id }
        try {
            if (request.inEnvelope && request.version != VERSION) {
                throw Refusal("Unsupported version: ${request.version ?: "none"}; this tool speaks $VERSION.")
            }
            if (known == null) throw Refusal("Unknown capability ID: $id")
            val values = known.run(arguments(request.capability, known))
            answer(intent, request, id, "success", "", outputs(known, values))
        } catch (e: Refusal) {
            answer(intent, request, id, "failure", e.message ?: "", emptyList())
        } catch (e: Exception) {
            // What went wrong in here is nothing for other apps to read.
            Log.e(TAG, "$id failed", e)
            answer(intent, request, id, "failure", "$id failed.", emptyList())
        }
    }

    private fun read(intent: Intent): Request? {
        val envelope = intent.getStringExtra("mobile-mcp-request")
        val bare = intent.getStringExtra("request")
        return when {
            envelope != null -> {
                val outer = JSONObject(envelope).getJSONObject("mobile-mcp-request")
                request(outer.getJSONObject("request"), outer.optString("version").ifEmpty { null }, true)
            }
            bare != null -> request(JSONObject(bare), null, false)
            else -> null
        }
    }

    private fun request(body: JSONObject, version: String?, inEnvelope: Boolean): Request? {
        val id = body.optString("id")
        if (id.isEmpty()) {
            Log.w(TAG, "the request has no id")
            return null
        }
        return Request(id, body.optJSONObject("capability") ?: JSONObject(), version, inEnvelope)
    }

    /** The arguments of a call, which fit what the capability takes. */
    private fun arguments(call: JSONObject, capability: Capability): JSONObject {
        val given = named(call)
        for (name in given.keys()) {
            if (capability.input.none { it.name == name }) throw Refusal("There is no argument `$name`.")
        }
        val fitting = JSONObject()
        for (param in capability.input) {
            // A JSON null says that there is none.
            if (given.isNull(param.name)) {
                if (param.required) throw Refusal("Missing argument: `${param.name}`.")
                continue
            }
            val value = given.get(param.name)
            if (!fits(value, param.type)) throw Refusal("The argument `${param.name}` must be of the type ${param.type}.")
            fitting.put(param.name, value)
        }
        return fitting
    }

    /** The arguments by name, in whichever of the three ways they were written. */
    private fun named(call: JSONObject): JSONObject {
        val given = call.opt("args") ?: call.opt("input")
        return when (given) {
            null, JSONObject.NULL -> JSONObject()
            is JSONObject -> given
            is JSONArray -> {
                val named = JSONObject()
                for (at in 0 until given.length()) {
                    val one = given.optJSONObject(at) ?: throw Refusal("The arguments must have names.")
                    val name = one.optString("name")
                    if (name.isEmpty()) throw Refusal("The arguments must have names.")
                    if (named.has(name)) throw Refusal("The argument `$name` is given twice.")
                    named.put(name, one.opt("value") ?: JSONObject.NULL)
                }
                named
            }
            else -> throw Refusal("The arguments must be an object.")
        }
    }

    private fun fits(value: Any, type: String): Boolean = when (type) {
        "boolean" -> value is Boolean
        "integer" -> value is Int || value is Long
        "number" -> value is Number
        else -> value is String
    }

    /** What is given, in the descriptor's order. */
    private fun outputs(capability: Capability, values: Map<String, Any>): List<Pair<Param, Any>> =
        capability.output.mapNotNull { param -> values[param.name]?.let { param to it } }

    private fun answer(
        intent: Intent,
        request: Request,
        capability: String,
        status: String,
        message: String,
        output: List<Pair<Param, Any>>,
    ) {
        @Suppress("DEPRECATION")
        val callback = CALLBACKS.firstNotNullOfOrNull { intent.getParcelableExtra(it) as? PendingIntent }
        // It was done all the same: whoever only sends an Intent cannot hear an answer.
        if (callback == null) return
        val body = JSONObject().put("id", request.id)
        val back = Intent()
        if (request.inEnvelope) {
            val list = JSONArray()
            for ((param, value) in output) {
                list.put(JSONObject().put("name", param.name).put("type", param.type).put("value", value))
            }
            body.put("capability", JSONObject().put("id", capability).put("output", list))
            body.put("status", status).put("message", message)
            val envelope = JSONObject().put("version", VERSION).put("response", body)
            back.putExtra("mobile-mcp-response", JSONObject().put("mobile-mcp-response", envelope).toString())
        } else {
            val named = JSONObject()
            for ((param, value) in output) named.put(param.name, value)
            body.put("capability", JSONObject().put("id", capability).put("output", named))
            body.put("status", status).put("message", message)
            back.putExtra("mcp_request_id", request.id).putExtra("response", body.toString())
        }
        try {
            callback.send(this, 0, back)
        } catch (e: PendingIntent.CanceledException) {
            Log.w(TAG, "the caller of $capability is gone")
        }
    }

    private companion object {
        const val TAG = "MobileMcp"
        const val VERSION = "1.0"

        // The specification leaves the callback's key open; these are in use.
        val CALLBACKS = listOf("mcp_callback", "callback")
    }
}
