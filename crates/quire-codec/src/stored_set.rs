//! Closed sets whose members are stored by their numbers and written by their names.

/// Defines an enum of members with a number and a name each. The numbers are never reused.
macro_rules! stored_set {
    (
        $(#[$about:meta])*
        pub enum $set:ident {
            $($(#[$member_about:meta])* $member:ident = $number:literal $name:literal,)+
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum $set {
            $($(#[$member_about])* $member = $number,)+
        }

        impl $set {
            /// Every member, in the order of the stored number.
            pub const ALL: [Self; [$($number),+].len()] = [$(Self::$member),+];

            /// The member a stored number stands for.
            pub fn from_u8(number: u8) -> Option<Self> {
                Self::ALL.into_iter().find(|one| *one as u8 == number)
            }

            /// Lower-case name, as written in SQL and shown to users.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$member => $name,)+
                }
            }
        }
    };
}

pub(crate) use stored_set;
