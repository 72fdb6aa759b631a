//! One row for each command: its HTTP method, its paths, and where its fields are. The enums of
//! commands, their requests and the router are made from the rows, so that both ends agree.

use serde_json::{Map, Value};

use crate::field::{Body, Field, put};

/// An HTTP method that WebDriver uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Asks.
    Get,
    /// Acts.
    Post,
    /// Ends something.
    Delete,
}

impl Method {
    /// As HTTP writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Delete => "DELETE",
        }
    }
}

/// Whether a command's path begins with `/session/ID`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionScope {
    /// Never.
    None,
    /// Either way: WebDriverAgent serves some commands without a session.
    Optional,
    /// Always.
    Required,
}

/// How a command looks over HTTP.
#[derive(Debug, Clone, Copy)]
pub struct Route {
    /// The command's enum and name, such as `GestureCommand::Tap`.
    pub name: &'static str,
    /// Its method.
    pub method: Method,
    /// Whether it needs a session.
    pub session: SessionScope,
    /// Its paths after `/session/ID`. The first is the one in use, the others are of older servers
    /// or of Appium.
    pub paths: &'static [&'static str],
    /// Makes the command of a request's parts.
    #[cfg(feature = "server")]
    pub(crate) read: fn(&RequestParts) -> Result<crate::Command, crate::field::FieldError>,
}

/// A command's fields by where they are. Values of `path` and `query` are texts.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestParts {
    pub(crate) path: Map<String, Value>,
    pub(crate) query: Map<String, Value>,
    pub(crate) body: Map<String, Value>,
}

impl RequestParts {
    pub(crate) fn put_path(&mut self, name: &str, value: &impl Field) {
        put(&mut self.path, name, value);
    }

    pub(crate) fn put_query(&mut self, name: &str, value: &impl Field) {
        put(&mut self.query, name, value);
    }

    pub(crate) fn put_field(&mut self, name: &str, value: &impl Field) {
        put(&mut self.body, name, value);
    }

    pub(crate) fn put_body(&mut self, value: &impl Body) {
        value.write(&mut self.body);
    }
}

/// Declares an enum of commands. A row is `Name { field: Type = part } => Method Scope "/path";`,
/// where the part is `path`, `query("name")`, `field("name")` for one field of the body, or `body`
/// for a type with several.
macro_rules! commands {
    (
        $(#[$meta:meta])*
        $group:ident as $variant:ident {
            $(
                $(#[$doc:meta])*
                $name:ident
                    $({ $( $(#[$field_doc:meta])* $field:ident: $type:ty = $part:ident $(($key:literal))? ),* $(,)? })?
                    => $method:ident $scope:ident $($path:literal)|+;
            )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        pub enum $group {
            $( $(#[$doc])* $name $({ $( $(#[$field_doc])* $field: $type, )* })?, )+
        }

        impl $group {
            #[cfg(feature = "server")]
            pub(crate) const ROUTES: &'static [$crate::command::Route] = &[$(
                $crate::command::route::commands!(@route
                    $group $name $({ $($field $part $(($key))?),* })? => $method $scope $($path)|+),
            )+];

            /// This command's route.
            pub(crate) fn route(&self) -> &'static $crate::command::Route {
                match self {$(
                    Self::$name { .. } => {
                        const ROUTE: $crate::command::Route = $crate::command::route::commands!(@route
                            $group $name $({ $($field $part $(($key))?),* })? => $method $scope $($path)|+);
                        &ROUTE
                    }
                )+}
            }

            /// This command's fields.
            pub(crate) fn parts(&self) -> $crate::command::route::RequestParts {
                let mut _parts = $crate::command::route::RequestParts::default();
                match self {$(
                    Self::$name $({ $($field),* })? => {
                        $( $( $crate::command::route::commands!(@put _parts $field $part $(($key))?); )* )?
                    }
                )+}
                _parts
            }
        }

        impl From<$group> for $crate::command::Command {
            fn from(command: $group) -> Self {
                Self::$variant(command)
            }
        }
    };
    (@route $group:ident $name:ident $({ $($field:ident $part:ident $(($key:literal))?),* })?
        => $method:ident $scope:ident $($path:literal)|+) => {
        $crate::command::Route {
            name: concat!(stringify!($group), "::", stringify!($name)),
            method: $crate::command::Method::$method,
            session: $crate::command::SessionScope::$scope,
            paths: &[$($path),+],
            #[cfg(feature = "server")]
            read: |_parts| Ok($group::$name $({
                $( $field: $crate::command::route::commands!(@get _parts $field $part $(($key))?), )*
            })?.into()),
        }
    };
    (@get $parts:ident $field:ident path) => { $parts.get_path(stringify!($field))? };
    (@get $parts:ident $field:ident query($key:literal)) => { $parts.get_query($key)? };
    (@get $parts:ident $field:ident field($key:literal)) => { $parts.get_field($key)? };
    (@get $parts:ident $field:ident body) => { $parts.get_body()? };
    (@put $parts:ident $field:ident path) => { $parts.put_path(stringify!($field), $field) };
    (@put $parts:ident $field:ident query($key:literal)) => { $parts.put_query($key, $field) };
    (@put $parts:ident $field:ident field($key:literal)) => { $parts.put_field($key, $field) };
    (@put $parts:ident $field:ident body) => { $parts.put_body($field) };
}
pub(crate) use commands;
