package org.example.clockin

import android.app.PendingIntent
import android.app.Service
import android.content.Intent
import android.os.Bundle
import android.os.Handler
import android.os.IBinder
import android.os.Looper
import android.os.Message
import android.os.Messenger
import android.os.RemoteException
import android.util.Log
import java.util.concurrent.Executors
import org.json.JSONArray
import org.json.JSONException
import org.json.JSONObject

/**
 * The tool side of the Mobile-MCP Intent protocol 1.0, section 3.2: it reads a request, checks its version, capability and arguments,
 * runs the capability, and answers through the request's callback. The subclass holds everything specific to this app; nothing here
 * needs to change.
 *
 * Callers write requests in different formats, all labelled "1.0". These are supported:
 *
 *  - `mobile-mcp-request`: `{"mobile-mcp-request": {"version", "request": {"id", "capability": {"id", "args": {…}}}}}`, as in the
 *    specification; answered with `mobile-mcp-response`;
 *  - the same with `input` instead of `args`, as an object or a list of `{"name", "type", "value"}`;
 *  - `request`: `{"id", "capability": {"id", "input": {…}}}` without an envelope, as in the specification's sample apps; answered with
 *    `response` and `mcp_request_id`.
 *
 * A caller starts the service with an Intent, or binds to it and sends a [Message] to the [Messenger] that it gets. Either carries the
 * request as a string, among the Intent's extras or in the message's data. The answer goes to the callback there, a [PendingIntent];
 * a message without one is answered to its `replyTo`, with the same strings in the data.
 *
 * Any app on the phone can start this service. Ask the user before doing anything that costs money, reveals secrets or cannot be undone.
 */
abstract class MobileMcpService : Service() {
    /** The tool's capabilities. Must match res/xml/mcp_capabilities.xml. */
    protected abstract val capabilities: List<Capability>

    /** A capability. [run] gets arguments that match [input], on a worker thread, and returns the values of [output] by name. */
    class Capability(
        val id: String,
        val input: List<Param>,
        val output: List<Param>,
        val run: (JSONObject) -> Map<String, Any>,
    )

    /** An input or output parameter. [type] is string, boolean, integer or number. */
    class Param(val name: String, val type: String, val required: Boolean = false)

    /** Refuses a call; the caller gets the message. */
    class Refusal(message: String) : Exception(message)

    private val worker = Executors.newSingleThreadExecutor()

    private val messenger = Messenger(Handler(Looper.getMainLooper()) { message ->
        // Android uses the message again as soon as this returns.
        val extras = Bundle(message.data)
        val replyTo = message.replyTo
        worker.execute { handle(extras, replyTo) }
        true
    })

    override fun onBind(intent: Intent): IBinder? = messenger.binder

    override fun onStartCommand(intent: Intent?, flags: Int, startId: Int): Int {
        // If callers use startForegroundService, call startForeground() here with a notification, within seconds.
        val extras = intent?.extras
        worker.execute {
            if (extras != null) handle(extras, null)
            stopSelf(startId)
        }
        return START_NOT_STICKY
    }

    override fun onDestroy() {
        worker.shutdown()
        super.onDestroy()
    }

    /** A parsed request, and which format to answer in. */
    private class Request(val id: String, val capability: JSONObject, val version: String?, val inEnvelope: Boolean)

    private fun handle(extras: Bundle, replyTo: Messenger?) {
        val request = try {
            read(extras)
        } catch (e: JSONException) {
            Log.w(TAG, "malformed request: ${e.message}")
            null
        }
        // Without a request id, no answer is possible.
        if (request == null) return
        val id = request.capability.optString("id")
        val known = capabilities.find { it.id == id }
        try {
            if (request.inEnvelope && request.version != VERSION) {
                throw Refusal("Unsupported version: ${request.version ?: "none"}; this tool supports $VERSION.")
            }
            if (known == null) throw Refusal("Unknown capability ID: $id")
            val values = known.run(arguments(request.capability, known))
            answer(extras, replyTo, request, id, "success", "", outputs(known, values))
        } catch (e: Refusal) {
            answer(extras, replyTo, request, id, "failure", e.message ?: "", emptyList())
        } catch (e: Exception) {
            // Don't leak internal errors to other apps.
            Log.e(TAG, "$id failed", e)
            answer(extras, replyTo, request, id, "failure", "$id failed.", emptyList())
        }
    }

    private fun read(extras: Bundle): Request? {
        val envelope = extras.getString("mobile-mcp-request")
        val bare = extras.getString("request")
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

    /** Reads the arguments of a call and checks them against the capability's input. */
    private fun arguments(call: JSONObject, capability: Capability): JSONObject {
        val given = named(call)
        for (name in given.keys()) {
            if (capability.input.none { it.name == name }) throw Refusal("Unknown argument: `$name`.")
        }
        val fitting = JSONObject()
        for (param in capability.input) {
            // JSON null counts as missing.
            if (given.isNull(param.name)) {
                if (param.required) throw Refusal("Missing argument: `${param.name}`.")
                continue
            }
            val value = given.get(param.name)
            if (!fits(value, param.type)) throw Refusal("The argument `${param.name}` must be of type ${param.type}.")
            fitting.put(param.name, value)
        }
        return fitting
    }

    /** The arguments by name, from any of the three formats. */
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

    /** The output values, in the descriptor's order. */
    private fun outputs(capability: Capability, values: Map<String, Any>): List<Pair<Param, Any>> =
        capability.output.mapNotNull { param -> values[param.name]?.let { param to it } }

    private fun answer(
        extras: Bundle,
        replyTo: Messenger?,
        request: Request,
        capability: String,
        status: String,
        message: String,
        output: List<Pair<Param, Any>>,
    ) {
        @Suppress("DEPRECATION")
        val callback = CALLBACKS.firstNotNullOfOrNull { extras.getParcelable(it) as? PendingIntent }
        // A caller that gives neither gets no answer; the work is done all the same.
        if (callback == null && replyTo == null) return
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
            if (callback != null) callback.send(this, 0, back)
            else replyTo?.send(Message.obtain().apply { data = back.extras })
        } catch (e: PendingIntent.CanceledException) {
            Log.w(TAG, "the caller of $capability is gone")
        } catch (e: RemoteException) {
            Log.w(TAG, "the caller of $capability is gone")
        }
    }

    private companion object {
        const val TAG = "MobileMcp"
        const val VERSION = "1.0"

        // The specification doesn't name the callback's key; these are in use.
        val CALLBACKS = listOf("mcp_callback", "callback")
    }
}
